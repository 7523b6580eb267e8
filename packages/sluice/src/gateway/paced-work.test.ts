import { expect, test } from 'vitest'
import { createPacedWork } from './paced-work.ts'

/** A clock that a test sets, and timers that it fires. */
function setClock() {
  let now = 0
  const timers: { readonly at: number; then(): void }[] = []
  return {
    clock: {
      now: () => now,
      after(ms: number, then: () => void) {
        const timer = { at: now + ms, then }
        timers.push(timer)
        return () => {
          if (timers.includes(timer)) timers.splice(timers.indexOf(timer), 1)
        }
      },
    },
    timers,
    pass(ms: number) {
      now += ms
      for (const timer of timers.filter(({ at }) => at <= now)) {
        timers.splice(timers.indexOf(timer), 1)
        timer.then()
      }
    },
  }
}

test('requests that come during the pause share one run, which takes at most a fifth of the time', () => {
  const { clock, pass, timers } = setClock()
  let runs = 0
  const { request } = createPacedWork(clock, () => {
    runs++
    pass(10)
  })
  request()
  expect(runs).toBe(1)
  for (let n = 0; n < 100; n++) request()
  expect(runs).toBe(1)
  pass(39)
  expect(runs).toBe(1)
  pass(1)
  expect(runs).toBe(2)
  pass(1_000)
  expect([runs, timers.length]).toEqual([2, 0])
  request()
  expect(runs).toBe(3)
})

test('a run on demand is at once and replaces the one that waits, and a closed one leaves no timer', () => {
  const { clock, pass, timers } = setClock()
  let runs = 0
  const { request, run, close } = createPacedWork(clock, () => {
    runs++
    pass(10)
  })
  request()
  request()
  run()
  expect([runs, timers.length]).toEqual([2, 0])
  request()
  expect(timers).toHaveLength(1)
  close()
  expect(timers).toHaveLength(0)
})
