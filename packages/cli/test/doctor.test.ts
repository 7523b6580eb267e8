/** What `sluice doctor` finds besides this machine: fleets, keys of issuers, addresses, tracing, packages and clocks. */

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type RedisServer, startRedis } from '../../../test/kit/processes/redis.ts'
import { clockFinding } from '../src/doctor/clock.ts'
import type { Finding } from '../src/doctor/finding.ts'
import { aFolder, main, sluice } from './command.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
}, 60_000)
afterAll(() => redis?.stop())

const free = { SLUICE_PORT: '0', SLUICE_CONSOLE__PORT: '0' }

async function examine(settings: object, env: Record<string, string> = {}): Promise<readonly Finding[]> {
  const cwd = aFolder()
  writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify(settings))
  const { out, err, code } = await sluice(cwd, ['doctor', '--json'], { ...free, ...env })
  const findings = out === '' ? [] : (JSON.parse(out) as Finding[])
  expect(err).toBe('')
  expect(code).toBe(findings.some(({ state }) => state === 'bad') ? 3 : 0)
  for (const { state, fix } of findings) if (state === 'bad') expect(fix).toBeTruthy()
  return findings
}
const about = (findings: readonly Finding[], what: string): readonly (readonly [string, string])[] =>
  findings.filter((each) => each.what === what).map(({ state, found }) => [state, found])

test('a Redis without a shared secret, and servers whose data would stay on one machine', {
  timeout: 60_000,
}, async () => {
  const store = { redis: redis.url }
  const findings = await examine({ store, servers: { memory: {}, knowledge: {}, routes: {} } })
  expect(about(findings, 'Secret')).toEqual([['bad', expect.stringContaining('must share a secret')]])
  expect(about(findings, 'Server memory')).toEqual([['bad', expect.stringContaining('local files')]])
  expect(findings.find(({ what }) => what === 'Server memory')?.fix).toContain('SLUICE_MEMORY_POSTGRES')
  expect(about(findings, 'Server routes')).toEqual([['bad', expect.stringContaining('local files')]])
  expect(about(findings, 'Server knowledge')).toEqual([['good', expect.any(String)]])
  expect(about(findings, 'Clock of the store')).toEqual([['good', 'in sync']])
  const shared = { store, sharedData: true, servers: { memory: {} } }
  const short = await examine(shared, { SLUICE_SECRET: 'too short' })
  expect(about(short, 'Secret')).toEqual([['bad', expect.any(String)]])
  const good = await examine(shared, { SLUICE_SECRET: 'a'.repeat(32) })
  expect(about(good, 'Secret')).toEqual([['good', expect.any(String)]])
  expect(about(good, 'Server memory')).toEqual([])
})

test('the keys of every issuer are fetched, and its clock is compared', async () => {
  const issuer = createServer((request, response) => {
    if (request.url === '/late') response.setHeader('date', new Date(Date.now() - 120_000).toUTCString())
    if (request.url === '/missing') response.statusCode = 404
    response.end(JSON.stringify({ keys: request.url === '/empty' ? [] : [{ kty: 'EC' }] }))
  })
  await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    issuer.close()
  })
  const host = `127.0.0.1:${(issuer.address() as AddressInfo).port}`
  const jwt = ['good', 'late', 'empty', 'missing'].map((name) => ({
    ...{ issuer: `https://${name}.example.com`, audience: 'https://mcp.example.com' },
    jwks: `http://${host}/${name}`,
  }))
  const away = { issuer: 'https://x.example.com', audience: 'https://mcp.example.com', pemFile: '/nowhere/key.pem' }
  const findings = await examine({ authenticate: { jwt: [...jwt, away] } })
  expect(about(findings, 'Keys')).toEqual([
    ['good', `http://${host}/good: 1 key`],
    ['good', `http://${host}/late: 1 key`],
    ['bad', `http://${host}/empty has no keys`],
    ['bad', `http://${host}/missing: HTTP 404`],
    ['bad', '/nowhere/key.pem cannot be read'],
  ])
  expect(about(findings, `Clock of ${host}`).map(([state]) => state)).toEqual(['good', 'bad', 'good'])
})

test('a console port that another Sluice has is not called ours', async () => {
  const other = createServer((_, response) => response.end('<title>Sluice</title>'))
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    other.close()
  })
  const { port } = other.address() as AddressInfo
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port: own } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  const findings = await examine({}, { SLUICE_PORT: String(own), SLUICE_CONSOLE__PORT: String(port) })
  expect(about(findings, 'Console port')).toEqual([['bad', `127.0.0.1:${port} is in use`]])
})

test('clocks that are more than half a minute apart are reported', () => {
  expect(clockFinding('Clock', 1_000_000, 1_030_000).state).toBe('good')
  expect(clockFinding('Clock', 1_000_000, 1_031_000)).toMatchObject({ state: 'bad', found: '31 seconds apart' })
  expect(clockFinding('Clock', 1_031_000, 1_000_000)).toMatchObject({ state: 'bad', found: '31 seconds apart' })
})

test.each([
  { settings: {}, is: 'good' },
  { settings: { hosts: ['https://mcp.example.com/'] }, is: 'bad' },
  { settings: { host: '10.0.0.5', hosts: ['mcp.example.com'] }, is: 'good' },
  { settings: { host: '10.0.0.5', hosts: ['mcp.example.com:8443'] }, is: 'bad' },
  { settings: { resource: 'https://mcp.example.com/notes/mcp' }, is: 'bad' },
  { settings: { resource: 'https://mcp.example.com/notes/mcp', hosts: ['mcp.example.com'] }, is: 'good' },
  { settings: { resource: 'https://mcp.example.com:8443/mcp', hosts: ['mcp.example.com'], port: 3000 }, is: 'bad' },
])('"hosts" is compared with the addresses of clients: $settings is $is', async ({ settings, is }) => {
  const { resource, ...more } = settings as { resource?: string }
  const metadata = resource && { resource, authorizationServers: ['http://127.0.0.1:1/'] }
  const findings = await examine(
    { ...more, ...(metadata && { authenticate: { resource: metadata } }) },
    'port' in more ? { SLUICE_PORT: '3000' } : {},
  )
  expect(about(findings, 'Hosts').map(([state]) => state)).toEqual([is])
})

/** Runs the doctor in a process of its own, because modules are loaded once per process. */
function inChild(settings: object, preloaded?: string): { readonly out: string; readonly code: number | null } {
  const cwd = aFolder()
  writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify({ port: 0, console: { port: 0 }, ...settings }))
  const args = [
    ...(preloaded === undefined ? [] : ['--import', `data:text/javascript,${encodeURIComponent(preloaded)}`]),
    main,
    'doctor',
  ]
  const { stdout, status } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' })
  return { out: stdout, code: status }
}
const moduleUrl = (name: string): string => JSON.stringify(import.meta.resolve(name))

test('tracing without an SDK is reported, and with one it is not', { timeout: 60_000 }, () => {
  const without = inChild({ tracing: true })
  expect(without.code).toBe(3)
  expect(without.out).toContain('✗ Tracing: on, but no OpenTelemetry SDK is loaded')
  const register = `import { trace } from ${moduleUrl('@opentelemetry/api')}; import { BasicTracerProvider } from ${moduleUrl('@opentelemetry/sdk-trace-base')}; trace.setGlobalTracerProvider(new BasicTracerProvider())`
  const loaded = inChild({ tracing: true }, register)
  expect(loaded.code).toBe(0)
  expect(loaded.out).toContain('✓ Tracing: an OpenTelemetry SDK is loaded')
})

test('a missing redis package is named, with the command that installs it', { timeout: 60_000 }, () => {
  const hide = `import { registerHooks } from 'node:module'; registerHooks({ resolve(name, context, next) { return next(name === 'redis' ? 'redis-not-installed' : name, context) } })`
  const { out, code } = inChild({ store: { redis: redis.url } }, hide)
  expect(code).toBe(3)
  expect(out).toMatch(/✗ Store: the package redis-not-installed is not installed\n.*npm install redis-not-installed/)
})
