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

describe('one configuration in three formats', () => {
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

test('config print hides passwords in URLs, as a table and as JSON', async () => {
  const cwd = aFolder()
  writeFileSync(join(cwd, 'sluice.config.json'), '{"store":{"redis":"redis://ann:pa55@db:6379"}}')
  for (const flags of [[], ['--json']]) {
    const { out } = await sluice(cwd, ['config', 'print', ...flags])
    expect(out).toContain('redis://ann:(hidden)@db:6379')
    expect(out).not.toContain('pa55')
  }
})

test('the environment overrides the file, flags override both, and each value has its origin', async () => {
  const cwd = inFolder('sluice.config.json', '{"port":4000,"data":"a","rateLimit":{"burst":1,"perSecond":1}}')
  const env = { SLUICE_PORT: '5000', SLUICE_RATE_LIMIT__PER_SECOND: '9', SLUICE_HOSTS: '["a.example"]' }
  const { config, origins } = await loadConfig({ cwd, env, flags: { data: 'b' } })
  expect(config).toMatchObject({
    port: 5000,
    data: 'b',
    hosts: ['a.example'],
    rateLimit: { burst: 1, perSecond: 9 },
  })
  expect([origins.get('port'), origins.get('data'), origins.get('host')]).toEqual(['SLUICE_PORT', '--data', undefined])
})

test.each([
  ['{"prot":1}', 'prot: unknown setting; did you mean "port"?'],
  ['{"store":{"postgress":"x"}}', 'store: Use sqlite, memory, { redis: redis://… } or { postgres: postgresql://… }'],
  ['{"store":{"postgres":"http://db/x"}}', 'store.postgres: Begin it with postgresql://'],
  ['{"authenticate":{"jwt":[{"issuer":"x"}]}}', 'authenticate.jwt[0].audience: It is missing'],
  ['{"rateLimit":{"most":1}}', 'rateLimit.most: unknown setting; use one of burst, perSecond, tools'],
  ['{"approvals":{"approvr":"owner"}}', 'approvals.approvr: unknown setting; did you mean "approver"?'],
  ['{"port":"http"}', 'port: '],
  ['{"store":{"redis":"http://x"}}', 'store'],
  ['{"authenticate":{"jwt":[{"issuer":"a","audience":"b"}]}}', 'Set exactly one of "jwks", "pemFile" and "secretFile"'],
  ['{', 'cannot be read'],
])('%s is refused with the problem', async (text, message) => {
  await expect(loadConfig({ cwd: inFolder('sluice.config.json', text), env: {} })).rejects.toThrow(message)
})

test.each([
  ['sluice.config.json', '[{"port":4000}]', 'holds a list'],
  ['sluice.config.json', '"port"', 'holds a string'],
  ['sluice.config.json', 'null', 'is empty'],
  ['sluice.config.json', '', 'cannot be read'],
  ['sluice.config.yaml', '', 'is empty'],
  ['sluice.config.yaml', '# port: 4000\n', 'is empty'],
  ['sluice.config.yaml', '- port: 4000\n', 'holds a list'],
  ['sluice.config.yaml', 'port=4000\n', 'holds a string'],
  ['sluice.config.ts', '', 'has no default export'],
  ['sluice.config.ts', 'export const config = { port: 4000 }', 'has no default export'],
  ['sluice.config.ts', 'export default null', 'exports null'],
  ['sluice.config.ts', 'export default [{ port: 4000 }]', 'holds a list'],
  ['sluice.config.ts', 'export default () => ({ port: 4000 })', 'holds a function'],
  ['sluice.config.mjs', 'export default new Map([["port", 4000]])', 'holds an instance of a class'],
])('%s with %j stops the start instead of starting the defaults', async (name, text, message) => {
  const cwd = inFolder(name, text)
  await expect(loadConfig({ cwd, env: {} })).rejects.toThrow(message)
  const { code, err } = await sluice(cwd, ['config', 'print'])
  expect([code, err]).toEqual([2, expect.stringContaining(join(cwd, name))])
})

test('an invalid configuration ends the start before anything listens', async () => {
  const { code, err, out } = await sluice(inFolder('sluice.config.json', '[]'), ['start', '--port', '0'])
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain('is not a configuration: it holds a list')
})

test('a name without a value does not turn a layer off', async () => {
  const cwd = inFolder('sluice.config.yaml', 'authenticate:\n#  apiKeys: true\nport: 4000\n')
  await expect(loadConfig({ cwd, env: {} })).rejects.toThrow('"authenticate" has no value')
  const off = inFolder('sluice.config.yaml', 'authenticate: null\n')
  expect((await loadConfig({ cwd: off, env: {} })).config.authenticate).toBeNull()
})

test('two configurations in one folder are refused, because one would be ignored', async () => {
  const cwd = inFolder('sluice.config.json', '{}')
  writeFileSync(join(cwd, 'sluice.config.yaml'), 'rateLimit: { burst: 1, perSecond: 1 }\n')
  await expect(loadConfig({ cwd, env: {} })).rejects.toThrow('There are two configurations')
  expect((await loadConfig({ cwd, env: {}, file: 'sluice.config.yaml' })).config.rateLimit?.burst).toBe(1)
})

describe('names with dots', () => {
  const text = JSON.stringify({
    tenants: { tools: { 'acme.com': ['a.b'] } },
    rateLimit: { tools: { 'notes.add': { burst: 1, perSecond: 2 } } },
    concurrency: { tools: { 'notes.add': 3 } },
    servers: { 'notes.v2': { module: './notes.ts' } },
  })
  test('are accepted for tenants, tools and servers', async () => {
    const { config, origins } = await loadConfig({ cwd: inFolder('sluice.config.json', text), env: {} })
    expect(config).toMatchObject(JSON.parse(text) as object)
    expect(origins.get('rateLimit.tools["notes.add"].burst')).toContain('sluice.config.json')
  })
  test('are printed with the variable that can set them', async () => {
    const { out } = await sluice(inFolder('sluice.config.json', text), ['config', 'print'])
    expect(out).toMatch(/^tenants\.tools\["acme\.com"\] +\["a\.b"\] +.*sluice\.config\.json +SLUICE_TENANTS__TOOLS$/m)
  })
  test('are not lost if the name is __proto__', async () => {
    const cwd = inFolder('sluice.config.json', '{"__proto__":{"port":4000}}')
    await expect(loadConfig({ cwd, env: {} })).rejects.toThrow('__proto__: unknown setting')
  })
})

test('a missing file and an unknown variable are refused', async () => {
  await expect(loadConfig({ cwd: aFolder(), env: {}, file: 'x.json' })).rejects.toThrow(
    /The configuration file .* does not exist/,
  )
  await expect(loadConfig({ cwd: aFolder(), env: { SLUICE_CONSOLE__PROT: '1' } })).rejects.toThrow(
    'did you mean "port"? (SLUICE_CONSOLE__PROT)',
  )
})

test('variables of the servers are not settings', async () => {
  const env = { SLUICE_MEMORY_WORKSPACE: 'a', SLUICE_KNOWLEDGE_TITLE: 'b' }
  expect((await loadConfig({ cwd: aFolder(), env })).origins.size).toBe(0)
})

test('each path has one variable', () => {
  expect(variableOf(['console', 'port'])).toBe('SLUICE_CONSOLE__PORT')
  expect(variableOf(['concurrency', 'perTenant'])).toBe('SLUICE_CONCURRENCY__PER_TENANT')
})

test('the published schema has the settings of the validating schema', () => {
  const schema = toJsonSchema() as { properties: object; additionalProperties: boolean }
  expect(Object.keys(schema.properties)).toEqual(Object.keys(configSchema.shape))
  expect(schema.additionalProperties).toBe(false)
})

test('config print shows each value with its origin, and no secret', async () => {
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
