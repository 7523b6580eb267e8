import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig, variableOf } from '../src/config/load.ts'
import { configSchema, toJsonSchema } from '../src/config/schema.ts'
import { aFolder, sluice } from './command.ts'

const inFolder = (name: string, text: string): string => {
  const cwd = aFolder()
  writeFileSync(join(cwd, name), text)
  return cwd
}

describe('one configuration, three spellings', () => {
  test.each([
    ['sluice.config.json', '{"port":4000,"console":{"port":4001}}'],
    ['sluice.config.yaml', 'port: 4000\nconsole:\n  port: 4001\n'],
    ['sluice.config.ts', 'export default { port: 4000 as number, console: { port: 4001 } }'],
  ])('%s', async (name, text) => {
    const cwd = inFolder(name, text)
    const { config, origins } = await loadConfig({ cwd, env: {} })
    expect(config).toMatchObject({ port: 4000, host: '127.0.0.1', console: { port: 4001, host: '127.0.0.1' } })
    expect(origins.get('console.port')).toBe(join(cwd, name))
  })
})

test('config print hides passwords in addresses, as a table and as JSON', async () => {
  const cwd = aFolder()
  writeFileSync(join(cwd, 'sluice.config.json'), '{"store":{"redis":"redis://ann:pa55@db:6379"}}')
  for (const flags of [[], ['--json']]) {
    const { out } = await sluice(cwd, ['config', 'print', ...flags])
    expect(out).toContain('redis://ann:(hidden)@db:6379')
    expect(out).not.toContain('pa55')
  }
})

test('the environment goes before the file, flags before both, and each value knows where it came from', async () => {
  const cwd = inFolder('sluice.config.json', '{"port":4000,"data":"a","limit":{"rate":{"capacity":1,"perSecond":1}}}')
  const env = { SLUICE_PORT: '5000', SLUICE_LIMIT__RATE__PER_SECOND: '9', SLUICE_HOSTS: '["a.example"]' }
  const { config, origins } = await loadConfig({ cwd, env, flags: { data: 'b' } })
  expect(config).toMatchObject({
    port: 5000,
    data: 'b',
    hosts: ['a.example'],
    limit: { rate: { capacity: 1, perSecond: 9 } },
  })
  expect([origins.get('port'), origins.get('data'), origins.get('host')]).toEqual(['SLUICE_PORT', '--data', undefined])
})

test.each([
  ['{"prot":1}', 'prot: there is no such setting; did you mean port?'],
  ['{"approvals":{"approvr":"owner"}}', 'approvals.approvr: there is no such setting; did you mean approver?'],
  ['{"port":"http"}', 'port: '],
  ['{"store":{"redis":"http://x"}}', 'store'],
  ['{"authenticate":{"jwt":[{"issuer":"a","audience":"b"}]}}', 'Give exactly one of jwks, pemFile and secretFile'],
  ['{', 'cannot be read'],
])('%s is refused with what is wrong', async (text, message) => {
  await expect(loadConfig({ cwd: inFolder('sluice.config.json', text), env: {} })).rejects.toThrow(message)
})

test('a file that is named and not there, and a variable that is none', async () => {
  await expect(loadConfig({ cwd: aFolder(), env: {}, file: 'x.json' })).rejects.toThrow('There is no configuration at')
  await expect(loadConfig({ cwd: aFolder(), env: { SLUICE_CONSOLE__PROT: '1' } })).rejects.toThrow(
    'did you mean port? (SLUICE_CONSOLE__PROT)',
  )
})

test('what the servers read from the environment is not taken for a setting', async () => {
  const env = { SLUICE_MEMORY_WORKSPACE: 'a', SLUICE_KNOWLEDGE_TITLE: 'b' }
  expect((await loadConfig({ cwd: aFolder(), env })).origins.size).toBe(0)
})

test('variables and paths are one to the other', () => {
  expect(variableOf('console.port')).toBe('SLUICE_CONSOLE__PORT')
  expect(variableOf('concurrency.perTenant')).toBe('SLUICE_CONCURRENCY__PER_TENANT')
})

test('the published schema is made from the one that checks', () => {
  const schema = toJsonSchema() as { properties: object; additionalProperties: boolean }
  expect(Object.keys(schema.properties)).toEqual(Object.keys(configSchema.shape))
  expect(schema.additionalProperties).toBe(false)
})

test('config print shows what is in force, where it came from, and no secret', async () => {
  const cwd = inFolder('sluice.config.json', '{"store":{"redis":"redis://127.0.0.1:1"},"port":4000}')
  const { out, code } = await sluice(cwd, ['config', 'print'], {
    SLUICE_SECRET: 'do-not-print-this',
    SLUICE_HOST: '::1',
  })
  expect(code).toBe(0)
  expect(out).toMatch(/^port +4000 +.*sluice\.config\.json +SLUICE_PORT$/m)
  expect(out).toMatch(/^host +::1 +SLUICE_HOST/m)
  expect(out).toMatch(/^SLUICE_SECRET +\(set\)/m)
  expect(out).not.toContain('do-not-print-this')
})
