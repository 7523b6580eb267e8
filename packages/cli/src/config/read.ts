/** Finds and reads the configuration file. A value that is not an object stops the start, because defaults would replace it. */

import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { extname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CommandError, exitCodes } from '../output.ts'
import type { Tree } from './tree.ts'
import { isTree } from './tree.ts'

const names = ['ts', 'mts', 'js', 'mjs', 'json', 'yaml', 'yml'].map((ending) => `sluice.config.${ending}`)

/** Returns the configuration of this account, which `sluice protect` writes. It may not exist. */
export const homeConfig = (env: Readonly<Record<string, string | undefined>>): string =>
  join(env['HOME'] || env['USERPROFILE'] || homedir(), '.sluice', 'sluice.config.yaml')

/** Returns the named file or `sluice.config.*` in `cwd`; `undefined` if there is none. Refuses two: one would be ignored. */
export function findConfig(named: string | undefined, cwd: string): string | undefined {
  if (named === undefined) {
    const [first, second] = names.map((name) => resolve(cwd, name)).filter((path) => existsSync(path))
    if (second === undefined) return first
    throw new CommandError(
      `There are two configurations, ${first} and ${second}. Remove one, or name one with --config.`,
      exitCodes.usage,
    )
  }
  const path = resolve(cwd, named)
  if (!existsSync(path)) throw new CommandError(`The configuration file ${path} does not exist`, exitCodes.usage)
  return path
}

/** Reads one file. Refuses every value that is not an object, and says what to write instead. */
export async function readConfig(path: string): Promise<Tree> {
  const isModule = /^\.[cm]?[jt]s$/.test(extname(path))
  const value = await valueIn(path).catch((thrown: unknown) => {
    throw new CommandError(
      `${path} cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
      exitCodes.usage,
    )
  })
  if (isTree(value)) return value
  const advice = isModule ? 'Write "export default { … }".' : 'Write settings by name, or remove the file.'
  throw new CommandError(
    `${path} is not a configuration: it ${describeValue(value, isModule)}. ${advice}`,
    exitCodes.usage,
  )
}

/** Loaded only for a YAML file, because its eighty modules take as long as the rest of the command. */
const loadYaml = async () => (await import('yaml')).default

async function valueIn(path: string): Promise<unknown> {
  switch (extname(path)) {
    case '.json':
      return JSON.parse(readFileSync(path, 'utf8'))
    case '.yaml':
    case '.yml':
      return yamlIn(readFileSync(path, 'utf8'))
    default:
      return ((await import(pathToFileURL(path).href)) as { default?: unknown }).default
  }
}

/** Refuses a name without a value, because `authenticate:` with only comments below would turn authentication off. */
async function yamlIn(text: string): Promise<unknown> {
  const YAML = await loadYaml()
  const document = YAML.parseDocument(text)
  if (document.errors[0]) throw document.errors[0]
  YAML.visit(document, {
    Pair(_, { key, value }) {
      const isEmpty = value === null || (YAML.isScalar(value) && value.value === null && !value.source)
      if (isEmpty) throw new Error(`"${String(key)}" has no value. Write null to turn it off, or remove the line.`)
    },
  })
  return document.toJS()
}

function describeValue(value: unknown, isModule: boolean): string {
  if (value === undefined && isModule) return 'has no default export'
  if (value === undefined || value === null) return isModule ? 'exports null' : 'is empty'
  if (Array.isArray(value)) return 'holds a list'
  return typeof value === 'object' ? 'holds an instance of a class' : `holds a ${typeof value}`
}
