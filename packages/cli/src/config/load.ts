/** From a file, the environment and flags to one checked configuration that knows where each value came from. */

import { existsSync, readFileSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import YAML from 'yaml'
import type * as z from 'zod'
import { CommandError, exitCodes } from '../output.ts'
import { suggest } from '../suggest.ts'
import type { Config } from './schema.ts'
import { configSchema, secretNames } from './schema.ts'

export interface Loaded {
  readonly config: Config
  /** By the value's path, such as `console.port`: `default`, a file's name, a variable or a flag. */
  readonly origins: ReadonlyMap<string, string>
}

export interface LoadOptions {
  /** Left out, `sluice.config.*` in the working folder, if there is one. */
  readonly file?: string | undefined
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  /** What the command line says, by path. */
  readonly flags?: { readonly [path: string]: unknown }
}

const names = ['ts', 'mts', 'js', 'mjs', 'json', 'yaml', 'yml'].map((ending) => `sluice.config.${ending}`)

export async function loadConfig(options: LoadOptions = {}): Promise<Loaded> {
  const { cwd = process.cwd(), env = process.env, flags = {} } = options
  const file = findFile(options.file ?? env['SLUICE_CONFIG'], cwd)
  const layers = [
    ...(file === undefined ? [] : [{ origin: () => file, values: flatten(await readFile(file)) }]),
    { origin: variableOf, values: fromEnvironment(env) },
    {
      origin: (path: string) => `--${path.split('.').at(-1) ?? path}`,
      values: new Map(Object.entries(flags).filter(([, value]) => value !== undefined)),
    },
  ]
  const origins = new Map<string, string>()
  const merged: Tree = {}
  for (const { origin, values } of layers)
    for (const [path, value] of values) {
      put(merged, path, value)
      origins.set(path, origin(path))
    }
  const parsed = configSchema.safeParse(merged)
  if (!parsed.success) throw new CommandError(problemsOf(parsed.error, merged, origins), exitCodes.usage)
  return { config: parsed.data, origins }
}

function findFile(named: string | undefined, cwd: string): string | undefined {
  if (named === undefined) return names.map((name) => resolve(cwd, name)).find((path) => existsSync(path))
  const path = resolve(cwd, named)
  if (!existsSync(path)) throw new CommandError(`There is no configuration at ${path}`, exitCodes.usage)
  return path
}

async function readFile(path: string): Promise<unknown> {
  try {
    switch (extname(path)) {
      case '.json':
        return JSON.parse(readFileSync(path, 'utf8'))
      case '.yaml':
      case '.yml':
        return YAML.parse(readFileSync(path, 'utf8'))
      default:
        return ((await import(pathToFileURL(path).href)) as { default?: unknown }).default
    }
  } catch (thrown) {
    throw new CommandError(
      `${path} cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
      exitCodes.usage,
    )
  }
}

interface Tree {
  [name: string]: unknown
}
const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Leaves by their path. Lists are leaves: two lists are not mixed. */
function flatten(value: unknown, path = ''): Map<string, unknown> {
  if (!isTree(value) || (path !== '' && Object.keys(value).length === 0))
    return new Map(path === '' ? [] : [[path, value]])
  return new Map(
    Object.entries(value).flatMap(([name, each]) => [...flatten(each, path === '' ? name : `${path}.${name}`)]),
  )
}

function put(tree: Tree, path: string, value: unknown): void {
  const [name = '', ...rest] = path.split('.')
  if (rest.length === 0) {
    tree[name] = value
    return
  }
  const below = tree[name]
  const next: Tree = isTree(below) ? below : {}
  tree[name] = next
  put(next, rest.join('.'), value)
}

/** `SLUICE_CONSOLE__PORT=4000` is `console.port`: two underscores go one level down, one begins a capital. */
function fromEnvironment(env: LoadOptions['env'] & object): Map<string, unknown> {
  const values = new Map<string, unknown>()
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith('SLUICE_') || text === undefined || ofServers.test(name)) continue
    if ((secretNames as readonly string[]).includes(name)) continue
    values.set(pathOf(name), parseValue(text))
  }
  return values
}

/** Read by the servers themselves, with `sluice serve memory` as with `npx @sluice/memory`. */
const ofServers = /^SLUICE_(KNOWLEDGE|MEMORY)_[A-Z]/

const pathOf = (name: string): string =>
  name
    .slice('SLUICE_'.length)
    .toLowerCase()
    .split('__')
    .map((part) => part.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()))
    .join('.')

export const variableOf = (path: string): string =>
  `SLUICE_${path
    .split('.')
    .map((part) => part.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase())
    .join('__')}`

/** A number, a boolean, a list; whatever is no JSON is text. */
function parseValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

function problemsOf(error: z.ZodError, merged: Tree, origins: ReadonlyMap<string, string>): string {
  const lines = error.issues.map((issue) => {
    const path = issue.path.join('.')
    if (issue.code !== 'unrecognized_keys') return `  ${path || 'the file'}: ${issue.message}${whence(path, origins)}`
    return issue.keys
      .map((key) => {
        const full = path === '' ? key : `${path}.${key}`
        const meant = suggest(key, namesAt(issue.path, merged))
        const from = [...origins].find(([each]) => each === full || each.startsWith(`${full}.`))?.[0] ?? full
        return `  ${full}: there is no such setting${meant ? `; did you mean ${meant}?` : ''}${whence(from, origins)}`
      })
      .join('\n')
  })
  return ['The configuration is not right:', ...lines].join('\n')
}

const whence = (path: string, origins: ReadonlyMap<string, string>): string => {
  const origin = origins.get(path)
  return origin === undefined ? '' : ` (${origin})`
}

/** What could stand where an unknown key does. */
function namesAt(path: readonly PropertyKey[], merged: Tree): readonly string[] {
  let schema: unknown = configSchema
  for (const step of path) schema = unwrapped(schema)?.shape?.[String(step)]
  return Object.keys(unwrapped(schema)?.shape ?? merged)
}

interface Shaped {
  readonly shape?: { readonly [name: string]: unknown }
}
function unwrapped(schema: unknown): Shaped | undefined {
  let here = schema as { def?: { innerType?: unknown } } & Shaped
  while (here?.def?.innerType !== undefined) here = here.def.innerType as typeof here
  return here
}
