/** Merges a file, the environment and flags into one validated configuration that records the origin of each value. */

import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { didYouMean } from 'sluice/extend'
import type * as z from 'zod'
import { CommandError, exitCodes } from '../output.ts'
import { findConfig, homeConfig, readConfig } from './read.ts'
import type { Config } from './schema.ts'
import { configSchema, secretNames } from './schema.ts'
import type { Path, Tree } from './tree.ts'
import { leavesOf, pathText, setLeaf } from './tree.ts'

export interface LoadedConfig {
  readonly config: Config
  /** The path of the file, if there is one. */
  readonly file?: string
  /** By the value's path (`pathText`), such as `console.port`: `default`, a file's name, a variable or a flag. */
  readonly origins: ReadonlyMap<string, string>
}

export interface LoadOptions {
  /** By default `sluice.config.*` in the working folder, if it exists. */
  readonly file?: string | undefined
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Uses the configuration of this account if this folder has neither a configuration nor data. */
  readonly orHome?: boolean
  /** Values of the command line, by path. */
  readonly flags?: { readonly [path: string]: unknown }
}

export async function loadConfig(options: LoadOptions = {}): Promise<LoadedConfig> {
  const { cwd = process.cwd(), env = process.env, flags = {} } = options
  const found = findConfig(options.file ?? env['SLUICE_CONFIG'], cwd)
  const home = homeConfig(env)
  const here = resolve(cwd, '.sluice')
  const hasData = flags['data'] !== undefined || env['SLUICE_DATA'] || (here !== dirname(home) && existsSync(here))
  const file = found ?? (options.orHome && !hasData && existsSync(home) ? home : undefined)
  const layers = [
    ...(file === undefined ? [] : [{ origin: () => file, values: leavesOf(await readConfig(file)) }]),
    { origin: variableOf, values: fromEnvironment(env) },
    {
      origin: (path: Path) => `--${path.at(-1)}`,
      values: Object.entries(flags).flatMap(([path, value]) =>
        value === undefined ? [] : [[path.split('.'), value] as const],
      ),
    },
  ]
  const origins = new Map<string, string>()
  const merged: Tree = {}
  for (const { origin, values } of layers)
    for (const [path, value] of values) {
      setLeaf(merged, path, value)
      origins.set(pathText(path), origin(path))
    }
  const parsed = configSchema.safeParse(merged)
  if (!parsed.success) throw new CommandError(problemsOf(parsed.error, merged, origins), exitCodes.usage)
  return { config: parsed.data, origins, ...(file !== undefined && { file }) }
}

/** `SLUICE_CONSOLE__PORT=4000` sets `console.port`. Two underscores go one level down; one makes the next letter a capital. */
function fromEnvironment(env: LoadOptions['env'] & object): readonly (readonly [Path, unknown])[] {
  const values: (readonly [Path, unknown])[] = []
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith('SLUICE_') || text === undefined || serverVariables.test(name)) continue
    if ((secretNames as readonly string[]).includes(name)) continue
    values.push([pathOf(name), parseValue(text)])
  }
  return values
}

/** Variables that the servers read themselves, with `sluice serve memory` and with `npx @sluice/memory`. */
const serverVariables = /^SLUICE_(KNOWLEDGE|MEMORY)_[A-Z]/

const pathOf = (name: string): Path =>
  name
    .slice('SLUICE_'.length)
    .toLowerCase()
    .split('__')
    .map((part) => part.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()))

/** Returns the variable for a path. A name that no variable can spell, such as `acme.com`, is written in the JSON of its group. */
export function variableOf(path: Path): string {
  const variable = `SLUICE_${path
    .map((part) => part.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase())
    .join('__')}`
  const isSpelled = /^\w+$/.test(variable) && pathText(pathOf(variable)) === pathText(path)
  return isSpelled || path.length < 2 ? variable : variableOf(path.slice(0, -1))
}

/** Parses JSON, such as a number, a boolean or a list. Anything else is text. */
function parseValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

function problemsOf(error: z.ZodError, merged: Tree, origins: ReadonlyMap<string, string>): string {
  const lines = error.issues.map((issue) => {
    const path = fieldText(issue.path)
    if (issue.code !== 'unrecognized_keys')
      return `  ${path || 'the file'}: ${issue.message}${originSuffix(path, origins)}`
    return issue.keys
      .map((key) => {
        const full = fieldText([...issue.path, key])
        const meant = didYouMean(key, namesAt(issue.path, merged))
        const from = [...origins].find(([each]) => isInGroup(each, full))?.[0] ?? full
        return `  ${full}: unknown setting${meant}${originSuffix(from, origins)}`
      })
      .join('\n')
  })
  return ['Invalid configuration:', ...lines].join('\n')
}

/** Whether a path, as text, is `group` or below it. */
export const isInGroup = (path: string, group: string): boolean =>
  path === group || path.startsWith(`${group}.`) || path.startsWith(`${group}[`)

/** Returns `servers.files.rules[0].tools`. */
const fieldText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    const name = pathText([String(step)])
    return text === '' || name.startsWith('[') ? text + name : `${text}.${name}`
  }, '')

/** Names the origin of a value. The values in a list come from where the list is written. */
const originSuffix = (path: string, origins: ReadonlyMap<string, string>): string => {
  const list = path.replace(/\[\d+\].*$/, '')
  const origin = origins.get(path) ?? origins.get(list)
  return origin === undefined ? '' : ` (${origin})`
}

/** Returns the known names at the position of an unknown key. */
function namesAt(path: readonly PropertyKey[], merged: Tree): readonly string[] {
  let schema: unknown = configSchema
  for (const step of path) {
    const { shape, def } = unwrapSchema(schema) ?? {}
    schema = shape?.[String(step)] ?? def?.valueType ?? def?.element
  }
  return Object.keys(unwrapSchema(schema)?.shape ?? merged)
}

interface ObjectSchema {
  readonly shape?: { readonly [name: string]: unknown }
  /** The schema of the values of a record, and of the elements of a list. */
  readonly def?: { readonly valueType?: unknown; readonly element?: unknown }
}
function unwrapSchema(schema: unknown): ObjectSchema | undefined {
  let current = schema as { def?: { innerType?: unknown } } & ObjectSchema
  while (current?.def?.innerType !== undefined) current = current.def.innerType as typeof current
  return current
}
