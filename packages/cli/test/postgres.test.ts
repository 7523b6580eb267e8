/** store: { postgres } with a real server: the command serves on it, and the doctor says what it would forget. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PostgresServer } from '../../../test/kit/processes/postgres.ts'
import { startPostgres } from '../../../test/kit/processes/postgres.ts'
import { postgresUrl } from '../src/host/store.ts'
import { aFolder, sluice } from './command.ts'

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

test('keys made by one process are known to the next', async () => {
  const cwd = aFolder()
  const made = await sluice(cwd, ['keys', 'create', 'ann'], on(server.url))
  expect(made.code).toBe(0)
  const { out } = await sluice(aFolder(), ['keys', 'list'], on(server.url))
  expect(out).toContain('ann')
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
