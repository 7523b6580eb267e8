/** The published schema and the table of settings in the documents match the validating schema. */

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { defaults } from '../src/config/defaults.ts'
import { loadConfig } from '../src/config/load.ts'
import { configSchema, toJsonSchema } from '../src/config/schema.ts'
import { secretNames } from '../src/config/secret-names.ts'

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

test('config.schema.json is up to date', () => {
  expect(
    JSON.parse(read('packages/cli/config.schema.json')),
    'Generate it again: node packages/cli/bin/sluice.js config schema > packages/cli/config.schema.json; npx biome check --write packages/cli',
  ).toEqual(JSON.parse(JSON.stringify(toJsonSchema())))
})

test('config/defaults.ts is what the schema makes of an empty configuration', () => {
  expect(defaults).toEqual(configSchema.parse({}))
})

interface Schema {
  readonly properties?: { readonly [name: string]: Schema }
  readonly additionalProperties?: Schema | false
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly type?: string
  readonly default?: unknown
  readonly description?: string
  readonly enum?: readonly unknown[]
}

/** Returns a row for each value, and for each group with a description. */
function rowsOf(schema: Schema, path = ''): readonly string[] {
  const group = schema.properties ? schema : schema.anyOf?.find(({ type }) => type === 'object')
  const isGroup = group?.properties !== undefined && path !== 'store'
  const isNullable = schema.anyOf?.some(({ type }) => type === 'null') ?? false
  const about = [
    schema.description,
    schema.enum && `one of ${schema.enum.map((each) => `\`${String(each)}\``).join(', ')}`,
    isNullable && '`null` turns it off',
  ].filter(Boolean)
  const standard = isGroup || schema.default === undefined ? '' : `\`${JSON.stringify(schema.default)}\``
  const ownRows =
    path === '' || (isGroup && about.length === 0) ? [] : [`| \`${path}\` | ${standard} | ${about.join('; ')} |`]
  const childRows = Object.entries((isGroup && group.properties) || {})
    .filter(([name]) => name !== '$schema')
    .flatMap(([name, each]) => rowsOf(each, path === '' ? name : `${path}.${name}`))
  // The settings of each entry: `servers.*.module` by name, `approvals.rules[].tool` in a list.
  const { additionalProperties, items: listed } = schema
  const named = additionalProperties || undefined
  const entryRows = [
    ...(named?.properties ? rowsOf(named, `${path}.*`) : []),
    ...(listed?.properties ? rowsOf(listed, `${path}[]`) : []),
  ]
  return [...ownRows, ...childRows, ...entryRows]
}

test('the table in docs/command.md has every setting with its default and description', () => {
  const table = ['| setting | default | |', '|---|---|---|', ...rowsOf(toJsonSchema() as Schema)].join('\n')
  expect(read('docs/command.md'), `Put this table there:\n${table}`).toContain(`\n${table}\n`)
})

test('every setting has a description', () => {
  expect(rowsOf(toJsonSchema() as Schema).filter((row) => row.endsWith('|  |'))).toEqual([])
})

test('docs/command.md lists every variable that is read only from the environment', () => {
  for (const name of secretNames) expect(read('docs/command.md')).toContain(`\`${name}\``)
})

test('the configuration in the guide is valid', async () => {
  const cwd = new URL('../../../examples/guides', import.meta.url).pathname
  const { config } = await loadConfig({ cwd, env: {} })
  expect(config.servers).toEqual({ memory: {}, notes: { module: './server.ts' } })
})
