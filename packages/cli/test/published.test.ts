/** The published schema and the table of settings in the documents match the validating schema. */

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { loadConfig } from '../src/config/load.ts'
import { secretNames, toJsonSchema } from '../src/config/schema.ts'

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

test('config.schema.json is up to date', () => {
  expect(
    JSON.parse(read('packages/cli/config.schema.json')),
    'Generate it again: node packages/cli/dist/main.js config schema > packages/cli/config.schema.json; npx biome check --write packages/cli',
  ).toEqual(JSON.parse(JSON.stringify(toJsonSchema())))
})

interface Schema {
  readonly properties?: { readonly [name: string]: Schema }
  readonly additionalProperties?: Schema | false
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
  if ((path === 'servers' || path === 'profiles') && schema.additionalProperties)
    return [...ownRows, ...rowsOf(schema.additionalProperties, `${path}.*`)]
  return [...ownRows, ...childRows]
}

test('the table in docs/command.md has every setting with its default and description', () => {
  const table = ['| setting | default | |', '|---|---|---|', ...rowsOf(toJsonSchema() as Schema)].join('\n')
  expect(read('docs/command.md'), `Put this table there:\n${table}`).toContain(`\n${table}\n`)
})

test('docs/command.md lists every variable that is read only from the environment', () => {
  for (const name of secretNames) expect(read('docs/command.md')).toContain(`\`${name}\``)
})

test('the configuration in the guide is valid', async () => {
  const cwd = new URL('../../../examples/guides', import.meta.url).pathname
  const { config } = await loadConfig({ cwd, env: {} })
  expect(config.servers).toEqual({ memory: {}, notes: { module: './server.ts' } })
})
