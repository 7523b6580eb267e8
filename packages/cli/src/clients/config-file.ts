/** Adds servers to the configuration of Sluice. What people wrote there stays, with its comments. */

import { existsSync, readFileSync } from 'node:fs'
import { dirname, extname, isAbsolute, join, resolve } from 'node:path'
import { applyEdits, modify } from 'jsonc-parser'
import type { CommandContext } from '../commands/context.ts'
import { loadConfig } from '../config/load.ts'
import { findConfig, homeConfig, readConfig } from '../config/read.ts'
import type { Config } from '../config/schema.ts'
import { isTree } from '../config/tree.ts'
import { builtInNames } from '../host/servers.ts'
import { CommandError, exitCodes } from '../output.ts'
import type { PlannedServer } from './plan.ts'

/** The configuration that `import` and `protect` write. */
export interface TargetConfig {
  readonly file: string
  /** `undefined` if the file does not exist yet. */
  readonly text: string | undefined
  /** `undefined` if it names none, so that the five built-in servers run. */
  readonly servers: Config['servers']
  /** The data folder. */
  readonly data: string
  /** The words that a command of Sluice needs to find the configuration and the data from any folder. */
  readonly arguments: readonly string[]
  /** Settings that a new file begins with. */
  readonly settings: { readonly [name: string]: unknown }
}

/** Other programs of a developer use 3000, and `sluice connect` would take them for Sluice. */
const laptopPort = 4101
/** The default is the console of another `sluice start`, such as that of the five servers. */
const laptopConsolePort = 4102

/** Finds the configuration: the named one, one in this folder, or that of this account. It need not exist. */
export async function targetConfig({ cwd, env }: CommandContext, named: string | undefined): Promise<TargetConfig> {
  const home = homeConfig(env)
  const wanted = named ?? env['SLUICE_CONFIG']
  const file = wanted === undefined ? (findConfig(undefined, cwd) ?? home) : resolve(cwd, wanted)
  if (!/^\.(ya?ml|json)$/.test(extname(file)))
    throw new CommandError(
      `${file} is a program, which Sluice does not edit. Name a YAML or JSON file with --config.`,
      exitCodes.usage,
    )
  if (existsSync(file)) {
    const { config } = await loadConfig({ file, cwd, env })
    const data = resolve(cwd, config.data)
    const tree = await readConfig(file)
    const isNamed = typeof tree['data'] === 'string' && isAbsolute(tree['data']) && resolve(tree['data']) === data
    const { servers } = config
    const text = readFileSync(file, 'utf8')
    return { file, text, servers, data, settings: {}, arguments: argumentsFor(file, isNamed ? undefined : data) }
  }
  const isHome = file === home
  const data = env['SLUICE_DATA']
    ? resolve(cwd, env['SLUICE_DATA'])
    : isHome
      ? dirname(file)
      : join(dirname(file), '.sluice')
  const settings = isHome ? { data, port: laptopPort, console: { port: laptopConsolePort } } : {}
  return {
    file,
    text: undefined,
    servers: {},
    data,
    settings,
    arguments: argumentsFor(file, isHome ? undefined : data),
  }
}

const argumentsFor = (file: string, data: string | undefined): readonly string[] => [
  '--config',
  file,
  ...(data === undefined ? [] : ['--data', data]),
]

/** Returns the servers that do not say whether their hints are believed. */
export const untrusted = ({ servers }: TargetConfig, planned: readonly PlannedServer[]): readonly string[] => [
  ...new Set(
    planned.filter(({ name, exists }) => !exists || servers?.[name]?.trustHints === undefined).map(({ name }) => name),
  ),
]

/** Returns the text of the configuration with the servers. */
export async function withServers(
  target: TargetConfig,
  planned: readonly PlannedServer[],
  trustHints: boolean,
): Promise<string> {
  const added = planned.filter(({ exists }) => !exists)
  const changes: { readonly at: readonly string[]; readonly value: unknown }[] = []
  // Naming other servers would turn the five built-in ones off.
  if (target.servers === undefined)
    for (const name of builtInNames)
      if (!added.some((each) => each.name === name)) changes.push({ at: ['servers', name], value: {} })
  for (const { name, server } of added) {
    const rules = target.servers?.[name]?.rules ?? [{ approval: 'always' }]
    changes.push({ at: ['servers', name], value: { ...server, rules } })
  }
  const reading = trustHints ? untrusted(target, planned) : []
  for (const name of reading) changes.push({ at: ['servers', name, 'trustHints'], value: true })
  const rule = { server: reading, annotations: { readOnlyHint: true }, approval: 'never' }
  const addedRule = reading.length > 0 ? rule : undefined
  if (extname(target.file) === '.json') return withJson(target, changes, addedRule)
  return withYaml(target, changes, addedRule)
}

const heading = ' Servers behind Sluice. Each call waits for an approval, except where a rule says otherwise.'

async function withYaml(
  { text, settings }: TargetConfig,
  changes: readonly { readonly at: readonly string[]; readonly value: unknown }[],
  rule: object | undefined,
): Promise<string> {
  const { default: YAML } = await import('yaml')
  const document = YAML.parseDocument(text ?? '')
  if (text === undefined || document.contents === null) {
    document.contents = document.createNode({}) as typeof document.contents
    document.commentBefore = heading
  }
  for (const [name, value] of Object.entries(settings)) document.set(name, value)
  for (const { at, value } of changes) document.setIn(at, document.createNode(value))
  YAML.visit(document, {
    Pair(_, { key, value }) {
      // Arguments are read as one line.
      if (text === undefined && YAML.isScalar(key) && key.value === 'args' && YAML.isSeq(value)) value.flow = true
    },
  })
  if (rule) {
    const rules = document.getIn(['approvals', 'rules'])
    if (YAML.isSeq(rules)) rules.add(document.createNode(rule))
    else document.setIn(['approvals', 'rules'], document.createNode([rule]))
  }
  return document.toString({ lineWidth: 120 })
}

function withJson(
  { text = '{}\n', settings }: TargetConfig,
  changes: readonly { readonly at: readonly string[]; readonly value: unknown }[],
  rule: object | undefined,
): string {
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol: '\n' }
  const set = (before: string, at: readonly (string | number)[], value: unknown): string =>
    applyEdits(before, modify(before, [...at], value, { formattingOptions }))
  let next = Object.entries(settings).reduce((before, [name, value]) => set(before, [name], value), text)
  for (const { at, value } of changes) next = set(next, at, value)
  if (!rule) return next
  const value: unknown = JSON.parse(next)
  const approvals = isTree(value) ? value['approvals'] : undefined
  const rules = isTree(approvals) && Array.isArray(approvals['rules']) ? approvals['rules'] : []
  return set(next, ['approvals', 'rules'], [...(rules as readonly unknown[]), rule])
}
