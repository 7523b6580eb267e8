/**
 * Real processes that are really killed: at every point between claim, effect and record there is never a second
 * effect.
 */

import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { random } from '../../packages/sluice/src/stores/contract-keys.ts'
import type { WorkerFixture } from '../kit/processes/idempotency-workers.ts'
import { createWorkerFixture, killRepeatedly } from '../kit/processes/idempotency-workers.ts'
import { startPostgres } from '../kit/processes/postgres.ts'

/** Past the deadline of every started call. */
const later = 60_000

let place: WorkerFixture
beforeEach(() => {
  place = createWorkerFixture()
})
afterEach(() => place.close())
const run: WorkerFixture['run'] = (...args) => place.run(...args)
const effects = (): readonly string[] => place.effects()

test('killed before the claim, nothing happened, and the next process does the work', async () => {
  expect(await run(['k'], { point: 'before claim' })).toMatchObject({ signal: 'SIGKILL', answers: [] })
  const { answers } = await run(['k'])
  expect(answers[0]?.said).toHaveProperty('content')
  expect(effects()).toEqual(['k'])
})

test.each([
  ['after claim', 0],
  ['before effect', 0],
  ['after effect', 1],
  ['before record', 1],
])('killed %s, the call stays in doubt with %i effects, however often it is repeated', async (point, happened) => {
  expect(await run(['k'], { point })).toMatchObject({ signal: 'SIGKILL', answers: [] })
  const [soon, after, again] = [
    await run(['k']),
    await run(['k'], { ahead: later }),
    await run(['k'], { ahead: later }),
  ]
  expect(soon.answers[0]?.said).toMatchObject({ reason: 'conflict', state: 'in flight' })
  expect(after.answers[0]?.said).toMatchObject({ reason: 'conflict', state: 'in doubt' })
  expect(again.answers).toEqual(after.answers)
  expect(effects()).toHaveLength(happened)
})

test('killed after the record and before the answer, the next process returns the answer', async () => {
  expect(await run(['k'], { point: 'after record' })).toMatchObject({ signal: 'SIGKILL', answers: [] })
  const { answers } = await run(['k'])
  expect(answers[0]?.said).toHaveProperty('content')
  expect(effects()).toEqual(['k'])
})

test.each([
  ['exit', 3, ''],
  ['throw in a timer', 1, 'in a timer'],
  ['unhandled rejection', 1, 'nobody listens'],
])('a tool that ends its process (%s) is reported, and its call is in doubt', async (point, code, reported) => {
  const ended = await run(['k'], { point })
  expect(ended).toMatchObject({ code, answers: [] })
  expect(ended.stderr).toContain(reported)
  const { answers } = await run(['k'], { ahead: later })
  expect(answers[0]?.said).toMatchObject({ reason: 'conflict', state: 'in doubt' })
  expect(effects()).toEqual(['k'])
})

test('four concurrent processes with the same keys: each key has its effect once, in one of them', async () => {
  const keys = Array.from({ length: 20 }, (_, i) => `key-${i}`)
  const processes = await Promise.all([0, 1, 2, 3].map(() => run(keys)))
  expect([...effects()].sort()).toEqual([...keys].sort())
  const done = processes.flatMap(({ answers }) => answers.filter(({ said }) => said.content))
  // The answer names the process that ran it, so all answers of a key are the same.
  expect(new Set(done.map((answer) => JSON.stringify(answer))).size).toBe(keys.length)
  const others = processes.flatMap(({ answers }) => answers.filter(({ said }) => !said.content))
  expect(new Set(others.map(({ said }) => said.state))).not.toContain('in doubt')
})

test('killed repeatedly under load: no effect twice, and no acknowledged answer lost', async () => {
  const below = random(1)
  const { acknowledged, doubtful, lost } = await killRepeatedly(5, 60, () => below(2 ** 31) / 2 ** 31)
  expect(lost).toEqual([])
  // Some were answered and some were interrupted; otherwise the kills came too late to prove anything.
  expect(acknowledged).toBeGreaterThan(0)
  expect(doubtful).toBeGreaterThan(0)
}, 60_000)

test('killed repeatedly on PostgreSQL: no effect twice, and no acknowledged answer lost', async () => {
  const server = await startPostgres()
  onTestFinished(() => server.stop())
  const below = random(2)
  const { acknowledged, doubtful, lost } = await killRepeatedly(5, 60, () => below(2 ** 31) / 2 ** 31, server.url)
  expect(lost).toEqual([])
  expect(acknowledged).toBeGreaterThan(0)
  expect(doubtful).toBeGreaterThan(0)
}, 60_000)
