/** An upstream process that lies, floods, stalls or leaves: each call gets one answer, and no process is left. */

import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { systemClock } from '../../../packages/sluice/src/core/clock.ts'
import { advanceUntil, fixture, keyOf, open } from './kit.ts'
import { hasGroup, isAlive, running } from './running.ts'

const pidOf = (facts: unknown): number => (facts as { readonly pid: number }).pid

test('an answer of 1 GB ends the call and the process, and is not held in memory', async () => {
  const { call, connections } = open({ clock: systemClock })
  const pid = pidOf(await call())
  const before = process.memoryUsage().rss
  await expect(call('large', undefined, { size: 1024 })).rejects.toMatchObject({ reason: 'resultTooLarge' })
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024)
  await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false)
  expect(connections.states()).toMatchObject([{ state: 'backoff' }])
})

test('a call without an answer ends with its deadline, and the process serves on', async () => {
  const { call, clock } = open()
  const pid = pidOf(await call())
  const outcome = expect(call('never')).rejects.toMatchObject({ reason: 'timeout' })
  await clock.advance(60_000)
  await outcome
  expect(await call()).toMatchObject({ pid })
})

test.each(['twice', 'unknown-id', 'id-in-use', 'not-json'])('%s: the call gets its own answer, once', async (how) => {
  const { call } = open()
  expect(await call(how)).toBe(how === 'twice' ? 'first' : 'right')
  expect(await call()).toMatchObject({ calls: 2 })
})

test('text on stdout that is not JSON is counted, kept for the operator and logged', async () => {
  const { call, connections, lines } = open({ start: 'noise' })
  await call('not-json')
  const [state] = connections.states()
  expect(state).toMatchObject({ state: 'ready', skippedLines: 5 })
  expect(state?.stderr).toEqual(expect.arrayContaining(['[stdout] Welcome!', '[stdout] Listening…']))
  expect(lines.filter(({ event }) => event === 'upstreamOutput')).toMatchObject([{ upstream: 'files', skipped: 1 }])
})

test('a process that writes lines without end does not take the event loop from others', async () => {
  const { call, clock, connections } = open()
  const outcome = expect(call('lines')).rejects.toThrow()
  const skipped = (): number => connections.states()[0]?.skippedLines ?? 0
  await expect.poll(skipped, { timeout: 10_000 }).toBeGreaterThan(8192)
  for (let i = 0; i < 100; i++) await call('facts', keyOf('another'))
  // One read of a pipe is at most 64 KiB, and it was the last one of this second.
  expect(skipped()).toBeLessThanOrEqual(8192 + 64 * 1024)
  await advanceUntil(clock, connections.restart())
  await outcome
})

test('a process that closes its input but lives on is ended', async () => {
  const { call, clock, connections } = open()
  const pid = pidOf(await call())
  expect(await call('close-input')).toBe('closed')
  const outcome = call()
  await advanceUntil(clock, outcome)
  await expect(outcome).rejects.toMatchObject({ reason: 'upstreamInDoubt' })
  const ended = expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false)
  await advanceUntil(clock, ended)
  await ended
  expect(connections.states()[0]?.lastError).toContain('does not take messages')
})

test('a process that closes its output but lives on is ended', async () => {
  const { call, clock } = open()
  const pid = pidOf(await call())
  const outcome = call('close-output')
  await advanceUntil(clock, outcome)
  await expect(outcome).rejects.toMatchObject({ reason: 'upstreamInDoubt' })
  const ended = expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false)
  await advanceUntil(clock, ended)
  await ended
})

test('a process that forks and exits takes the fork with it', async () => {
  const mark = randomUUID()
  const { call } = open({ spec: { args: [fixture, '', mark] } })
  const pid = pidOf(await call())
  await expect(call('fork-and-exit')).rejects.toMatchObject({ reason: 'upstreamInDoubt' })
  await expect.poll(() => running(mark)).toEqual([])
  await expect.poll(() => hasGroup(pid)).toBe(false)
})
