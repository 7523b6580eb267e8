/** store: { postgres } with a real server: the command serves on it, and the doctor says what it would forget. */

import { writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { connectTo } from '../../../test/kit/clients/binary.client.ts'
import type { PostgresServer } from '../../../test/kit/processes/postgres.ts'
import { startPostgres } from '../../../test/kit/processes/postgres.ts'
import { postgresUrl } from '../src/host/store.ts'
import { aFolder, sluice, startAll } from './command.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres(['fsync=on'])
}, 180_000)
afterAll(() => server?.stop())

const on = (url: string, more: object = {}): Record<string, string> => ({
  SLUICE_STORE: JSON.stringify({ postgres: url }),
  SLUICE_SECRET: 'a'.repeat(32),
  SLUICE_PORT: '0',
  SLUICE_CONSOLE__PORT: '0',
  ...more,
})

test('the doctor writes to it, and finds that it keeps what it acknowledged', async () => {
  const { out } = await sluice(aFolder(), ['doctor'], on(server.url))
  expect(out).toContain(`✓ Store: postgres ${server.url}`)
  expect(out).toContain('✓ PostgreSQL: keeps what it acknowledged')
})

test('the doctor says what a weak one has to be told', async () => {
  const weak = await startPostgres(['fsync=on', 'synchronous_commit=off'])
  try {
    const { out } = await sluice(aFolder(), ['doctor'], on(weak.url))
    expect(out).toContain('✗ PostgreSQL: This PostgreSQL cannot be trusted with tickets and keys')
    expect(out).toContain('synchronous_commit = on')
  } finally {
    await weak.stop()
  }
})

test('the doctor says that one is away', async () => {
  const { out } = await sluice(aFolder(), ['doctor'], on('postgresql://ann@127.0.0.1:1/sluice'))
  expect(out).toContain('✗ Store: The store is away')
})

test('a missing password is named with its variable', async () => {
  /** A message of the server that asks for more: its length, the step, and the text of the step. */
  const authentication = (step: number, text: string): Buffer => {
    const message = Buffer.alloc(9 + text.length)
    message.write('R')
    message.writeInt32BE(8 + text.length, 1)
    message.writeInt32BE(step, 5)
    message.write(text, 9)
    return message
  }
  const asking = createServer((socket) => {
    const steps = [authentication(10, 'SCRAM-SHA-256\0\0'), authentication(11, 'r=nonce,s=c2FsdA==,i=4096')]
    socket.on('error', () => {}).on('data', () => socket.write(steps.shift() ?? ''))
  })
  await new Promise<void>((resolve) => asking.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    asking.close()
  })
  const { port } = asking.address() as AddressInfo
  const { err } = await sluice(aFolder(), ['keys', 'list'], on(`postgresql://ann@127.0.0.1:${port}/sluice`))
  expect(err).toContain('PostgreSQL wants a password, so set SLUICE_POSTGRES_PASSWORD')
})

test('keys made by one process are known to the next', async () => {
  const cwd = aFolder()
  const made = await sluice(cwd, ['keys', 'create', 'ann'], on(server.url))
  expect(made.code).toBe(0)
  const { out } = await sluice(aFolder(), ['keys', 'list'], on(server.url))
  expect(out).toContain('ann')
})

function aProcessFolder(servers: object): string {
  const cwd = aFolder()
  writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify({ servers }))
  return cwd
}

test('two processes with separate folders keep memories and goals in its database', { timeout: 180_000 }, async () => {
  const servers = { memory: {}, fitness: {} }
  const [first, second] = [
    await startAll(aProcessFolder(servers), [], on(server.url)),
    await startAll(aProcessFolder(servers), [], on(server.url)),
  ]
  const key = first.keys['alice'] ?? ''
  const goal = { title: 'A marathon', goal_type: 'distance', target_value: 42, target_date: '2100-01-01' }
  const calls: readonly (readonly [server: string, write: string, input: object, read: string, input: object])[] = [
    ['memory', 'add_memory', { text: 'a heron by the lake' }, 'search_memory', { query: 'heron' }],
    ['fitness', 'set_goal', goal, 'track_progress', {}],
  ]
  for (const [name, write, written, read, query] of calls) {
    const writer = await connectTo(first.url(name), key)
    await writer.callTool({ name: write, arguments: { ...written } })
    const reader = await connectTo(second.url(name), key)
    const answer = await reader.callTool({ name: read, arguments: { ...query } })
    expect(JSON.stringify(answer.content)).toMatch(/a heron by the lake|A marathon/)
  }
  await Promise.all([first.stop(), second.stop()])
})

test("the doctor finds no local data, and asks for the key of the providers' tokens", { timeout: 60_000 }, async () => {
  const strava = { STRAVA_CLIENT_ID: '1', STRAVA_CLIENT_SECRET: 'two' }
  const cwd = aProcessFolder({ memory: {}, fitness: { env: strava } })
  const { out } = await sluice(cwd, ['doctor'], on(server.url))
  expect(out).toContain('✓ Server memory: keeps no data in local files')
  expect(out).toMatch(/✗ Server fitness: .*local files[\s\S]*set FITNESS_KEY/)
  const withKey = on(server.url, { FITNESS_KEY: 'k'.repeat(32) })
  expect((await sluice(cwd, ['doctor'], withKey)).out).toContain('✓ Server fitness: keeps no data in local files')
})

test("a server from a module does not get the database's address", { timeout: 60_000 }, async () => {
  const cwd = aProcessFolder({ mine: { module: './mine.mjs' } })
  const text = `export const open = async (host) => ({
    definition: { name: 'mine', version: '1.0.0' },
    state: Object.keys(host).sort().join(' '),
    close: async () => {},
  })`
  writeFileSync(join(cwd, 'mine.mjs'), text)
  const { servers, stop } = await startAll(cwd, [], on(server.url))
  expect(servers[0]?.state).toBe('clock env folder logger')
  await stop()
})

test.each([['start'], ['keys list']])('%s says why a store cannot be used, and what to do', async (command) => {
  const address = server.url.replace('sluice@', 'stranger@')
  const { code, err } = await sluice(aProcessFolder({ memory: {} }), command.split(' '), on(address))
  expect(err).toMatch(/refusing our credentials: role "stranger" does not exist. Check "store" .*sluice doctor/)
  expect(code).toBe(1)
})

test('the doctor does not blame a server for the store', async () => {
  const address = server.url.replace('sluice@', 'stranger@')
  const { out } = await sluice(aProcessFolder({ memory: {} }), ['doctor'], on(address))
  expect(out).toMatch(/✗ Store: .*role "stranger" does not exist/)
  expect(out).toMatch(/✗ Server memory: .*\n +It keeps its data in the store, which must work first/)
})

test('without a secret that all processes share it is refused', async () => {
  const { err } = await sluice(aFolder(), ['start'], { SLUICE_STORE: '{"postgres":"postgresql://127.0.0.1:1/x"}' })
  expect(err).toMatch(/^Processes that share PostgreSQL must share a secret.*\n$/)
})

test.each([
  ['postgresql://ann@db/x', 'postgresql://ann:p%3A%40@db/x'],
  ['postgres://ann@db:5433/x?sslmode=verify-full', 'postgres://ann:p%3A%40@db:5433/x?sslmode=verify-full'],
  ['postgresql://ann@/x?host=%2Frun', 'postgresql://ann:p%3A%40@/x?host=%2Frun'],
  ['postgresql:///x', 'postgresql://:p%3A%40@/x'],
])('the password of %s comes from the environment', (text, expected) => {
  expect(postgresUrl(text, 'p:@')).toBe(expected)
  expect(postgresUrl(text, undefined)).toBe(text)
})

test.each(['postgresql://ann:secret@db/x', 'postgresql://ann:@db/x', 'postgresql://db/x?user=a&password=b'])(
  '%s is refused: a password does not belong in the configuration',
  (text) => {
    expect(() => postgresUrl(text, undefined)).toThrow('SLUICE_POSTGRES_PASSWORD')
  },
)
