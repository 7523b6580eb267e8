/** Merges a file, the environment and flags into one validated configuration that records the origin of each value. */

import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { defaults } from './defaults.ts'
import { findConfig, homeConfig, readConfig } from './read.ts'
import type { Config } from './schema.ts'
import { secretNames } from './secret-names.ts'
import type { Path, Tree } from './tree.ts'
import { leavesOf, pathText, setLeaf } from './tree.ts'

export interface LoadedConfig {
  readonly config: Config
  /** The path of the file, if one was found. */
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
  readonly fallBackToHome?: boolean
  /** Values of the command line, by path. */
  readonly flags?: { readonly [path: string]: unknown }
}

export async function loadConfig(options: LoadOptions = {}): Promise<LoadedConfig> {
  const { cwd = process.cwd(), env = process.env, flags = {} } = options
  const found = findConfig(options.file ?? env['SLUICE_CONFIG'], cwd)
  const home = homeConfig(env)
  const here = resolve(cwd, '.sluice')
  const hasData = flags['data'] !== undefined || env['SLUICE_DATA'] || (here !== dirname(home) && existsSync(here))
  const file = found ?? (options.fallBackToHome && !hasData && existsSync(home) ? home : undefined)
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
  const config = withDefaults(merged) ?? (await import('./validate.ts')).validate(merged, origins)
  return { config, origins, ...(file !== undefined && { file }) }
}

/** Returns `undefined` if a setting must be validated. Most servers set only a folder, and start sooner without Zod. */
function withDefaults({ data = defaults.data, ...others }: Tree): Config | undefined {
  const isPlain = Object.keys(others).length === 0 && typeof data === 'string' && data !== ''
  return isPlain ? { ...defaults, data } : undefined
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

/** Returns the variable for a path. A name that no variable can spell, such as `acme.com`, goes into the JSON of its group. */
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

/** Returns whether a path, as text, is `group` or below it. */
export const isInGroup = (path: string, group: string): boolean =>
  path === group || path.startsWith(`${group}.`) || path.startsWith(`${group}[`)
