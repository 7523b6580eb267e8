import { expect, test, vi } from 'vitest'
import { isEdgeRuntime, readSecret, secretsOf } from './secrets.ts'

const singleProcess = { shared: false, edge: false }
const long = 'long enough to be one'
const unread = (): string => expect.unreachable('no file is named')

test('secrets are used unchanged and in order, two while rotating', () => {
  expect(secretsOf(long, singleProcess)()).toEqual([long])
  expect(secretsOf([long, `${long}, the old one`], { shared: true, edge: true })()).toEqual([
    long,
    `${long}, the old one`,
  ])
})

test('without a secret, a single process makes a random one on first use and keeps it', () => {
  const random = vi.spyOn(crypto, 'randomUUID')
  const secrets = secretsOf(undefined, singleProcess)
  expect(random).not.toHaveBeenCalled()
  const [made = ''] = secrets()
  expect(made.length).toBeGreaterThan(32)
  expect(secrets()).toEqual([made])
  expect(secretsOf(undefined, singleProcess)()).not.toEqual([made])
  random.mockRestore()
})

test('with a shared store a server without a secret does not start', () => {
  expect(() => secretsOf(undefined, { ...singleProcess, shared: true })).toThrow('Every process')
})

test('on the edge a missing secret fails on every use, and not before', () => {
  const secrets = secretsOf(undefined, { ...singleProcess, edge: true })
  expect(secrets).toThrow('isolate')
  expect(secrets).toThrow('isolate')
})

test.each([
  ['', 'at least 16'],
  ['15 characters..', 'at least 16'],
  [[long, ''], 'at least 16'],
  [[], 'one, or 2'],
  [[long, long, long], 'one, or 2'],
])('the secret %j is refused at once, and the message does not repeat it', (secret, problem) => {
  expect(() => secretsOf(secret, singleProcess)).toThrow(problem)
  expect(() => secretsOf(secret, singleProcess)).not.toThrow('15 characters')
})

test('the environment has the secret or its file, with two values on two lines or separated by a comma', () => {
  expect(readSecret({}, unread)).toBeUndefined()
  expect(readSecret({ SLUICE_SECRET: long }, unread)).toEqual([long])
  expect(readSecret({ SLUICE_SECRET: `${long},${long}2` }, unread)).toEqual([long, `${long}2`])
  expect(readSecret({ SLUICE_SECRET_FILE: '/run/secret' }, (path) => `${long} of ${path}\r\n${long}\n`)).toEqual([
    `${long} of /run/secret`,
    long,
  ])
})

test.each([
  [{ SLUICE_SECRET: '' }, 'SLUICE_SECRET: "secret" must be one'],
  [{ SLUICE_SECRET: 'hunter2' }, 'SLUICE_SECRET: "secret" needs at least'],
  [{ SLUICE_SECRET_FILE: '/run/secret' }, 'SLUICE_SECRET_FILE /run/secret: "secret" needs at least'],
  [{ SLUICE_SECRET: long, SLUICE_SECRET_FILE: '/run/secret' }, 'both set'],
])('the environment %j is refused, and the message does not show its value', (environment, problem) => {
  expect(() => readSecret(environment, () => 'hunter2')).toThrow(problem)
  expect(() => readSecret(environment, () => 'hunter2')).not.toThrow('hunter2')
})

test('a secret file that cannot be read fails the start', () => {
  const read = (): string => {
    throw new Error('ENOENT')
  }
  expect(() => readSecret({ SLUICE_SECRET_FILE: '/nowhere' }, read)).toThrow('ENOENT')
})

test('an edge runtime is recognized by its user agent, and Node is not one', () => {
  expect(isEdgeRuntime()).toBe(false)
  vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' })
  expect(isEdgeRuntime()).toBe(true)
  vi.stubGlobal('navigator', undefined)
  expect(isEdgeRuntime()).toBe(false)
  vi.unstubAllGlobals()
})
