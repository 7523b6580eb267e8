/** A process that ends by itself: its calls are in doubt, nothing is repeated, and it does not come back at once. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../kit/processes/temporary-folder.ts'
import { keyOf, open } from './kit.ts'
import { isAlive } from './running.ts'

const pidOf = (facts: unknown): number => (facts as { readonly pid: number }).pid

test('after kill -9 of the process the call is in doubt, ran once, and the next process serves (fastmcp#1908)', async () => {
  const ledger = join(temporaryFolder(), 'ledger')
  const { call, connections, clock } = open({ spec: { env: { LEDGER: ledger } } })
  const pid = pidOf(await call())
  const outcome = expect(call('never', undefined, { mark: 'once' })).rejects.toMatchObject({
    reason: 'upstreamInDoubt',
    data: { mayHaveRun: true },
  })
  await expect.poll(() => readIfThere(ledger)).toBe('once\n')
  process.kill(pid, 'SIGKILL')
  await outcome
  await clock.advance(1000)
  expect(pidOf(await call())).not.toBe(pid)
  expect(readIfThere(ledger)).toBe('once\n')
  expect(connections.states()).toMatchObject([{ state: 'ready', restarts: 1, lastError: 'files ended with SIGKILL' }])
})
const readIfThere = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

test('every call in flight fails in doubt, with the same end', async () => {
  const { call, acquire } = open()
  const { release } = await acquire()
  const outcomes = await Promise.allSettled([call('never'), call('never'), call('exit')])
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ status: 'rejected', reason: { reason: 'upstreamInDoubt' } })
  release()
})

test('a process that exits as a missing program does may still have run the call', async () => {
  await expect(open().call('exit-127')).rejects.toMatchObject({ reason: 'upstreamInDoubt' })
})

test('the process is started again after 1, 2, 4, 8 and 16 seconds, and then only by an operator or after 10 minutes', async () => {
  const { call, connections, clock } = open()
  for (const seconds of [1, 2, 4, 8, 16]) {
    await expect(call('exit')).rejects.toMatchObject({ reason: 'upstreamInDoubt' })
    expect(connections.states()).toMatchObject([{ state: 'backoff' }])
    await expect(call()).rejects.toMatchObject({
      reason: 'upstreamUnavailable',
      data: { retryAfterMs: seconds * 1000, mayHaveRun: false },
    })
    await clock.advance(seconds * 1000 - 1)
    await expect(call()).rejects.toMatchObject({ reason: 'upstreamUnavailable' })
    await clock.advance(1)
  }
  await expect(call('exit')).rejects.toMatchObject({ reason: 'upstreamInDoubt' })
  expect(connections.states()).toMatchObject([{ state: 'crash-loop', restarts: 5 }])
  await clock.advance(599_999)
  await expect(call()).rejects.toThrow('waits for an operator')
  await clock.advance(1)
  await expect(call('exit')).rejects.toMatchObject({ reason: 'upstreamInDoubt' })
  expect(connections.states()).toMatchObject([{ state: 'backoff' }])
  await connections.restart('shared')
  expect(await call()).toMatchObject({ calls: 1 })
})

test('a start that fails counts as a crash, and no call waits for the backoff', async () => {
  const { call, connections, lines } = open({ start: 'exit' })
  await expect(call()).rejects.toMatchObject({ reason: 'upstreamUnavailable' })
  expect(connections.states()).toMatchObject([{ state: 'backoff', lastError: 'files ended with exit code 3' }])
  expect(lines).toContainEqual(expect.objectContaining({ event: 'upstreamFailed', retryAfterMs: 1000 }))
})

test('a process that worked for a minute begins its backoff anew', async () => {
  const { call, clock } = open()
  await expect(call('exit')).rejects.toThrow()
  await clock.advance(1000)
  await call()
  await clock.advance(60_000)
  await expect(call('exit')).rejects.toThrow()
  await expect(call()).rejects.toMatchObject({ data: { retryAfterMs: 1000 } })
})

test('a process that exits with 0 and without calls did not crash', async () => {
  const { call, connections } = open()
  expect(await call('exit-later')).toBe('bye')
  await expect.poll(() => connections.states()).toEqual([])
  expect(await call()).toMatchObject({ calls: 1 })
})

test('an answer that is written before the exit is delivered', async () => {
  expect(await open().call('answer-and-exit')).toBe('last')
})

test('a tenant that crashes its process five times affects no other key', async () => {
  const { call, connections, clock } = open()
  const [bad, good] = [keyOf('ada', 'acme'), keyOf('bob', 'globex')]
  const pid = pidOf(await call('facts', good))
  for (const seconds of [1, 2, 4, 8, 16, 1]) {
    await expect(call('exit', bad)).rejects.toMatchObject({ reason: 'upstreamInDoubt' })
    expect(await call('facts', good)).toMatchObject({ pid })
    await clock.advance(seconds * 1000)
  }
  expect(connections.states()).toContainEqual(expect.objectContaining({ key: 'ada', state: 'crash-loop' }))
  expect(connections.states()).toContainEqual(expect.objectContaining({ key: 'bob', state: 'ready', restarts: 0 }))
  expect(isAlive(pid)).toBe(true)
})
