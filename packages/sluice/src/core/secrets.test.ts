import { expect, test, vi } from 'vitest'
import { isEdgeRuntime, readSecret, secretsOf } from './secrets.ts'

const alone = { shared: false, edge: false }
const long = 'long enough to be one'
const unread = (): string => expect.unreachable('no file is named')

test('a secret is used as it is, two while rotating, the first one first', () => {
  expect(secretsOf(long, alone)()).toEqual([long])
  expect(secretsOf([long, `${long}, the old one`], { shared: true, edge: true })()).toEqual([
    long,
    `${long}, the old one`,
  ])
})

test('without one, a process on its own makes one up on first use and keeps it', () => {
  const random = vi.spyOn(crypto, 'randomUUID')
  const secrets = secretsOf(undefined, alone)
  expect(random).not.toHaveBeenCalled()
  const [made = ''] = secrets()
  expect(made.length).toBeGreaterThan(32)
  expect(secrets()).toEqual([made])
  expect(secretsOf(undefined, alone)()).not.toEqual([made])
  random.mockRestore()
})

test('with a shared store a server without a secret does not start', () => {
  expect(() => secretsOf(undefined, { ...alone, shared: true })).toThrow('every process')
})

test('on the edge a secret is missed when it is needed, not before, and every time', () => {
  const secrets = secretsOf(undefined, { ...alone, edge: true })
  expect(secrets).toThrow('isolate')
  expect(secrets).toThrow('isolate')
})

test.each([
  ['', 'at least 16'],
  ['15 characters..', 'at least 16'],
  [[long, ''], 'at least 16'],
  [[], 'one, or 2'],
  [[long, long, long], 'one, or 2'],
])('the secret %j is refused at once, and not repeated in the message', (secret, why) => {
  expect(() => secretsOf(secret, alone)).toThrow(why)
  expect(() => secretsOf(secret, alone)).not.toThrow('15 characters')
})

test('the environment gives the secret itself or the file it is in, two on two lines or with a comma', () => {
  expect(readSecret({}, unread)).toBeUndefined()
  expect(readSecret({ SLUICE_SECRET: long }, unread)).toEqual([long])
  expect(readSecret({ SLUICE_SECRET: `${long},${long}2` }, unread)).toEqual([long, `${long}2`])
  expect(readSecret({ SLUICE_SECRET_FILE: '/run/secret' }, (path) => `${long} of ${path}\r\n${long}\n`)).toEqual([
    `${long} of /run/secret`,
    long,
  ])
})

test.each([
  [{ SLUICE_SECRET: '' }, 'SLUICE_SECRET: secret: give one'],
  [{ SLUICE_SECRET: 'hunter2' }, 'SLUICE_SECRET: secret: use at least'],
  [{ SLUICE_SECRET_FILE: '/run/secret' }, 'SLUICE_SECRET_FILE /run/secret: secret: use at least'],
  [{ SLUICE_SECRET: long, SLUICE_SECRET_FILE: '/run/secret' }, 'both set'],
])('the environment %j is refused and its value not shown', (environment, why) => {
  expect(() => readSecret(environment, () => 'hunter2')).toThrow(why)
  expect(() => readSecret(environment, () => 'hunter2')).not.toThrow('hunter2')
})

test('a file that cannot be read stops the start', () => {
  const read = (): string => {
    throw new Error('ENOENT')
  }
  expect(() => readSecret({ SLUICE_SECRET_FILE: '/nowhere' }, read)).toThrow('ENOENT')
})

test('Node is not the edge', () => {
  expect(isEdgeRuntime()).toBe(false)
  vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' })
  expect(isEdgeRuntime()).toBe(true)
  vi.stubGlobal('navigator', undefined)
  expect(isEdgeRuntime()).toBe(false)
  vi.unstubAllGlobals()
})
