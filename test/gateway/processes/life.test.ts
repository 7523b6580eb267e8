/** Process connections of the gateway: when a process starts, what it gets, and when it ends. */

import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { RpcError } from '../../../packages/sluice/src/core/error.ts'
import { createStop } from '../../../packages/sluice/src/core/stop.ts'
import { advanceUntil, keyOf, open } from './kit.ts'
import { isAlive } from './running.ts'

interface Facts {
  readonly pid: number
  readonly uid: number
  readonly env: { readonly [name: string]: string }
  readonly cwd: string
  readonly calls: number
}

test('a process starts with the first call, and the next calls use it', async () => {
  const { call, connections } = open()
  expect(connections.states()).toEqual([])
  const first = (await call()) as Facts
  expect(await call()).toMatchObject({ pid: first.pid, calls: 2 })
  expect(connections.states()).toMatchObject([
    { key: 'shared', state: 'ready', pid: first.pid, restarts: 0, inFlight: 0, revision: '2025-11-25' },
  ])
})

test('calls that come together start one process', async () => {
  const { call } = open()
  const facts = (await Promise.all([call(), call(), call()])) as Facts[]
  expect(new Set(facts.map(({ pid }) => pid)).size).toBe(1)
})

test('each scope key has its own process (ContextForge#4205)', async () => {
  const { call } = open()
  const [ada, bob] = (await Promise.all([call('facts', keyOf('ada')), call('facts', keyOf('bob'))])) as [Facts, Facts]
  expect(ada.pid).not.toBe(bob.pid)
  expect(await call('facts', keyOf('ada'))).toMatchObject({ pid: ada.pid, calls: 2 })
})

test('a ready connection is returned without a promise', async () => {
  const { acquire, connections } = open()
  const first = await acquire()
  const second = connections.acquire(keyOf('shared'), createStop())
  expect(second).not.toBeInstanceOf(Promise)
  first.release()
})

test('the environment is an allow-list and what the configuration names', async () => {
  process.env['SLUICE_SECRET_OF_TEST'] = 'hunter2'
  const { call } = open({ spec: { env: { NAMED: 'yes' }, cwd: '/tmp' } })
  const { env, cwd } = (await call()) as Facts
  delete process.env['SLUICE_SECRET_OF_TEST']
  expect(env).toMatchObject({ NAMED: 'yes', PATH: expect.any(String) })
  expect(JSON.stringify(env)).not.toContain('hunter2')
  expect(cwd).toBe('/tmp')
})

/** Whether another account can start programs of this folder: a checkout below /root is private. */
const isReachable = (folder: string): boolean =>
  (statSync(folder).mode & 0o005) === 0o005 && (dirname(folder) === folder || isReachable(dirname(folder)))

test.skipIf(process.getuid?.() !== 0 || !isReachable(import.meta.dirname))(
  'with `user` the process runs as that account',
  async () => {
    const { call } = open({ spec: { user: 'nobody' } })
    expect(await call()).toMatchObject({ uid: 65_534, env: { USER: 'nobody', HOME: expect.any(String) } })
  },
)

test('an idle process is ended, and the next call starts another', async () => {
  const { call, connections, clock } = open({ idleMs: 60_000 })
  const { pid } = (await call()) as Facts
  await clock.advance(59_999)
  expect(connections.states()).toMatchObject([{ state: 'ready' }])
  await call()
  await clock.advance(59_999)
  expect(isAlive(pid)).toBe(true)
  await clock.advance(1)
  await expect.poll(() => isAlive(pid)).toBe(false)
  await expect.poll(() => connections.states()).toEqual([])
  expect(await call()).toMatchObject({ calls: 1 })
})

test('a process in use is not idle', async () => {
  const { acquire, connections, clock } = open({ idleMs: 1000 })
  const { release } = await acquire()
  await clock.advance(10_000)
  expect(connections.states()).toMatchObject([{ state: 'ready', inFlight: 1 }])
  release()
  release()
  expect(connections.states()).toMatchObject([{ inFlight: 0 }])
})

test('the process of a session ends with the session, after its last call', async () => {
  const { acquire, connections, clock } = open()
  let isOver = false
  const { release } = await acquire({ ...keyOf('session'), isOver: () => isOver })
  isOver = true
  await clock.advance(5000)
  expect(connections.states()).toMatchObject([{ state: 'ready', inFlight: 1 }])
  release()
  await clock.advance(1000)
  await expect.poll(() => connections.states()).toEqual([])
})

test('with no idle time a process ends after its call, and never during one', async () => {
  const { acquire, connections, clock } = open({ idleMs: 0 })
  const { release } = await acquire()
  await clock.advance(1000)
  expect(connections.states()).toMatchObject([{ state: 'ready' }])
  release()
  await clock.advance(1000)
  await expect.poll(() => connections.states()).toEqual([])
})

test('a process that ignores the end of input and SIGTERM is killed, with its group', async () => {
  const { call, connections, clock } = open({ start: 'stubborn' })
  const { pid } = (await call()) as Facts
  const { pid: child } = (await call('fork')) as Facts
  await advanceUntil(clock, connections.restart())
  expect(isAlive(pid)).toBe(false)
  await expect.poll(() => isAlive(child)).toBe(false)
})

test('a handshake has an end', async () => {
  const { call, connections, clock } = open({
    start: 'mute',
    startMs: 2000,
    spec: { args: ['-e', 'setInterval(() => {}, 1000)'] },
  })
  const failed = expect(call()).rejects.toMatchObject({ reason: 'upstreamUnavailable', data: { mayHaveRun: false } })
  await expect.poll(() => connections.states()[0]?.pid).toBeTypeOf('number')
  await clock.advance(2000)
  await advanceUntil(clock, failed)
  await failed
  expect(connections.states()).toMatchObject([{ lastError: expect.stringContaining('within 2000 ms') }])
})

test('a server that exits at `server/discover` is started again with `initialize`', async () => {
  const { call, connections } = open({ start: 'exit-on-discover' })
  expect(await call()).toMatchObject({ calls: 1 })
  expect(connections.states()).toMatchObject([{ state: 'ready', restarts: 0 }])
})

test('a program that does not exist is unavailable, and the operator sees why', async () => {
  const { call, connections } = open({ spec: { command: 'no-such-program' } })
  await expect(call()).rejects.toMatchObject({ reason: 'upstreamUnavailable' })
  expect(connections.states()).toMatchObject([{ lastError: expect.stringContaining('no-such-program') }])
})

test('a call that is stopped does not wait for the start, which goes on', async () => {
  const { connections, call } = open()
  const stop = createStop()
  const acquired = connections.acquire(keyOf('shared'), stop)
  stop.stop(new RpcError('cancelled', 'Cancelled'))
  await expect(acquired).rejects.toMatchObject({ reason: 'cancelled' })
  expect(await call()).toMatchObject({ calls: 1 })
})

test('the last lines of stderr are kept, cut to a length', async () => {
  const { call, connections } = open({ start: 'stderr' })
  await call()
  const kept = (): readonly string[] => connections.states()[0]?.stderr ?? []
  await expect.poll(() => kept().at(-1)).toBe('the last words')
  expect(kept()).toHaveLength(100)
  expect(Math.max(...kept().map(({ length }) => length))).toBe(500)
})

test('after `close` every acquire is refused', async () => {
  const { call, connections } = open()
  const { pid } = (await call()) as Facts
  await connections.close()
  expect(isAlive(pid)).toBe(false)
  await expect(call()).rejects.toMatchObject({ reason: 'upstreamUnavailable' })
})
