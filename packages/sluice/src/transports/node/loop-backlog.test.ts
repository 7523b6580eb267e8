import { expect, test } from 'vitest'
import type { LoopBacklog, LoopSample } from './loop-backlog.ts'
import { createLoopBacklog } from './loop-backlog.ts'

/** Takes samples given as changes since the last one. */
function create() {
  const backlog: LoopBacklog = createLoopBacklog()
  let now: LoopSample = { busyMs: 0, idleMs: 0, running: 0, finished: 0 }
  return {
    ...backlog,
    sample({ busyMs = 0, idleMs = 0, finished = 0, running = now.running }: Partial<LoopSample>) {
      now = { busyMs: now.busyMs + busyMs, idleMs: now.idleMs + idleMs, running, finished: now.finished + finished }
      backlog.sample(now)
    },
  }
}

test('the wait is the number of requests times the time of one', () => {
  const { sample, waitMs } = create()
  sample({ idleMs: 100 })
  for (let index = 0; index < 2; index++) sample({ busyMs: 100, finished: 20, running: 30 })
  expect(waitMs(40)).toBe(200)
})

test('a loop that is idle at times has no backlog', () => {
  const { sample, waitMs } = create()
  for (let index = 0; index < 3; index++) sample({ busyMs: 90, idleMs: 10, finished: 1, running: 100 })
  expect(waitMs(1_000)).toBe(0)
})

test('requests that were in flight when the loop was idle wait for something else', () => {
  const { sample, waitMs } = create()
  sample({ busyMs: 50, idleMs: 50, finished: 5, running: 900 })
  sample({ busyMs: 100, finished: 10, running: 910 })
  expect(waitMs(920)).toBe(200)
  sample({ busyMs: 100, finished: 10, running: 800 })
  expect(waitMs(920)).toBe(1_200)
})

test('one long turn does not make requests look slow', () => {
  const { sample, waitMs } = create()
  sample({ busyMs: 100, finished: 100, running: 32 })
  sample({ busyMs: 5_000, finished: 10 })
  expect(waitMs(32)).toBe(32)
})

test('nothing is known before two samples, and the start of the process is not the work of a request', () => {
  const { sample, waitMs } = create()
  sample({ busyMs: 2_000 })
  sample({ busyMs: 100, finished: 1, running: 32 })
  expect(waitMs(32)).toBe(0)
  sample({ busyMs: 100, finished: 10 })
  expect(waitMs(32)).toBe(320)
})

test('a runtime that does not tell its idle time has no backlog', () => {
  const { sample, waitMs } = create()
  for (let index = 0; index < 3; index++) sample({ finished: 10, running: 100 })
  expect(waitMs(100)).toBe(0)
})
