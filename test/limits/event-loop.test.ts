/**
 * Load on the event loop, simulated: which requests admission control refuses because they would wait too long for the
 * loop. A wait alone is not a reason, because refusing must help the requests that are served.
 */

import { expect, test } from 'vitest'
import { simulateLoop } from './event-loop.ts'

type Outcomes = ReturnType<ReturnType<typeof simulateLoop>['run']>

const served = (outcomes: Outcomes): Outcomes => outcomes.filter(({ refused }) => !refused)
/** When each refused request arrived. */
const refusals = (outcomes: Outcomes): readonly number[] =>
  outcomes.filter(({ refused }) => refused).map(({ arrivedAt }) => arrivedAt)
const p99 = (outcomes: Outcomes): number =>
  served(outcomes)
    .map(({ tookMs }) => tookMs)
    .toSorted((a, b) => a - b)[Math.floor(served(outcomes).length * 0.99)] ?? 0

/** The first calls are slow, because their code is not compiled yet. */
const coldMs = (nth: number): number => (nth < 100 ? 5 : 0.2)
/** Other programs take half of the core, and every 200 ms nearly all of it for 100 ms. */
const stolen = (time: number): number => (time % 200 < 100 ? 0.1 : 0.5)

test.each([
  ['at once', 0],
  ['after a wait', 2],
])('32 clients that wait for their answers are all served, by a cold process on a stolen core, %s', (_, waitMs) => {
  for (const share of [() => 1, stolen]) {
    const loop = simulateLoop({ blockMs: coldMs, waitMs, share })
    loop.closedLoop(32, 0, 5_000)
    const outcomes = loop.run()
    expect(refusals(outcomes)).toEqual([])
    expect(outcomes.length).toBeGreaterThan(3_000)
  }
})

test.each([
  ['at once', 0],
  ['after a wait', 2],
])('a process that stands still for seconds refuses no request, %s', (_, waitMs) => {
  let paused = false
  const share = (time: number): number => {
    if (paused || time < 1_000) return 1
    paused = true
    return 0.05 / 3_000
  }
  const loop = simulateLoop({ blockMs: () => 0.3, waitMs, share })
  loop.closedLoop(32, 0, 30_000)
  const outcomes = loop.run()
  expect(Math.max(...outcomes.map(({ tookMs }) => tookMs))).toBeGreaterThan(2_900)
  expect(refusals(outcomes)).toEqual([])
})

test('a call that blocks the loop for half a second costs the calls beside it time, and no refusal', () => {
  const loop = simulateLoop({ blockMs: (nth) => (nth % 500 === 499 ? 500 : 0.3) })
  loop.closedLoop(32, 0, 5_000)
  expect(refusals(loop.run())).toEqual([])
})

test('calls that wait for something else are not a backlog when the loop is late', () => {
  const loop = simulateLoop({ blockMs: (nth) => (nth % 100 === 99 ? 600 : 2), waitMs: 10_000 })
  loop.openLoop(20, 0, 30_000)
  expect(refusals(loop.run())).toEqual([])
})

test('just below the capacity, calls of blocking tools are all served', () => {
  const loop = simulateLoop({ blockMs: () => 5 })
  loop.openLoop(6, 0, 10_000)
  const outcomes = loop.run()
  expect(refusals(outcomes)).toEqual([])
  expect(outcomes.length).toBe(Math.ceil(10_000 / 6))
})

test.each([
  [1, 75],
  [3, 75],
  [10, 120],
])(
  'tools that block the loop for %i ms, at ten times the capacity: admitted calls wait for a few others',
  (blockMs, most) => {
    const loop = simulateLoop({ blockMs: () => blockMs })
    loop.openLoop(blockMs / 10, 0, 10_000)
    const outcomes = loop.run()
    expect(served(outcomes).length).toBeGreaterThan((0.5 * 10_000) / blockMs)
    expect(Math.min(...refusals(outcomes))).toBeLessThan(200)
    expect(p99(outcomes)).toBeLessThan(most)
  },
)

test('tools that block the loop after a wait, at ten times the capacity: admitted calls do not wait for seconds', () => {
  const loop = simulateLoop({ blockMs: () => 10, waitMs: 5 })
  loop.openLoop(20, 0, 3_000)
  loop.openLoop(1, 3_000, 13_000)
  const outcomes = loop.run()
  expect(served(outcomes).length).toBeGreaterThan(0.9 * 1_000)
  expect(Math.min(...refusals(outcomes))).toBeLessThan(3_300)
  expect(p99(outcomes)).toBeLessThan(1_000)
})

test('an overload that lasts delays few of the calls that are served', () => {
  const loop = simulateLoop({ blockMs: () => 3 })
  loop.openLoop(2, 0, 60_000)
  const tookMs = served(loop.run())
    .filter(({ arrivedAt }) => arrivedAt > 5_000)
    .map((outcome) => outcome.tookMs)
  expect(tookMs.filter((ms) => ms < 75).length).toBeGreaterThan(0.8 * tookMs.length)
  expect(Math.max(...tookMs)).toBeLessThan(300)
})

test('refusals end with the overload', () => {
  const loop = simulateLoop({ blockMs: () => 3 })
  loop.openLoop(0.3, 0, 3_000)
  loop.openLoop(6, 3_050, 10_000)
  expect(refusals(loop.run()).filter((arrivedAt) => arrivedAt > 3_000)).toEqual([])
})

test('clients that are refused and try again at once do not prolong an overload', () => {
  const loop = simulateLoop({ blockMs: () => 3 })
  loop.openLoop(0.3, 0, 3_000)
  loop.closedLoop(32, 3_000, 15_000)
  expect(Math.max(...refusals(loop.run()))).toBeLessThan(8_000)
})
