import { expect, test } from 'vitest'
import type { LoadSample } from '../http/hysteresis.ts'
import { createHysteresis } from '../http/hysteresis.ts'
import { createPressureMonitor } from './pressure-monitor.ts'

const calm: LoadSample = { lagMs: 1, heap: 0.3 }
const run = (samples: readonly Partial<LoadSample>[]): boolean[] => {
  const state = createHysteresis()
  return samples.map((sample) => {
    state.sample({ ...calm, ...sample })
    return state.heapHigh || state.loopLate
  })
}

test('one sample of a late loop or a full heap is enough', () => {
  expect(run([{ lagMs: 249 }, { lagMs: 500 }])).toEqual([false, true])
  expect(run([{ heap: 0.89 }, { heap: 0.9 }])).toEqual([false, true])
})

test('the overload ends after three calm samples in a row', () => {
  expect(run([{ lagMs: 500 }, {}, {}, {}, {}])).toEqual([true, true, true, false, false])
  expect(run([{ lagMs: 500 }, {}, {}, { lagMs: 120 }, {}, {}, {}])).toEqual([true, true, true, true, true, true, false])
})

test('samples that swing around the threshold do not switch the state each time', () => {
  const about = (mark: Partial<LoadSample>, below: Partial<LoadSample>) =>
    run(Array.from({ length: 40 }, (_, i) => (i % 4 === 0 ? mark : below)))
  expect(about({ lagMs: 260 }, { lagMs: 200 })).not.toContain(false)
  expect(about({ heap: 0.91 }, { heap: 0.87 })).not.toContain(false)
  expect(about({ lagMs: 240 }, { lagMs: 10 })).not.toContain(true)
})

test('lag and heap are judged separately', () => {
  const state = createHysteresis()
  state.sample({ lagMs: 500, heap: 0.95 })
  expect([state.loopLate, state.heapHigh]).toEqual([true, true])
  for (let sample = 0; sample < 3; sample++) state.sample({ lagMs: 1, heap: 0.88 })
  expect([state.loopLate, state.heapHigh]).toEqual([false, true])
})

test('the sample of each tick decides, until the monitor is closed', () => {
  let tick = (): void => {}
  let closed = false
  let now: LoadSample = calm
  const every = (ms: number, then: () => void) => {
    expect(ms).toBe(100)
    tick = then
    return () => {
      closed = true
    }
  }
  const pressure = createPressureMonitor({ lagMs: 50 }, () => now, every)
  tick()
  expect(pressure.loopLate).toBe(false)
  now = { lagMs: 60, heap: 0 }
  tick()
  expect([pressure.loopLate, pressure.heapHigh]).toEqual([true, false])
  pressure.close()
  expect(closed).toBe(true)
})

test('the monitor measures this process, and notices that it was blocked', () => {
  let tick = (): void => {}
  const measuring = (lagMs: number) =>
    createPressureMonitor({ lagMs }, undefined, (_, then) => {
      tick = then
      return () => {}
    })
  const idle = measuring(60_000)
  tick()
  expect(idle.loopLate).toBe(false)
  const blocked = measuring(5)
  const until = performance.now() + 110
  while (performance.now() < until);
  tick()
  expect(blocked.loopLate).toBe(true)
})
