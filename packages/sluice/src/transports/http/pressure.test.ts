import { expect, test } from 'vitest'
import type { Signals } from './hysteresis.ts'
import { createHysteresis } from './hysteresis.ts'
import { createPressure } from './pressure.ts'

const calm: Signals = { lagMs: 1, heap: 0.3 }
const run = (samples: readonly Partial<Signals>[]): boolean[] => {
  const state = createHysteresis()
  return samples.map((sample) => {
    state.sample({ ...calm, ...sample })
    return state.high || state.late
  })
}

test('one sample of a late loop or a full heap is enough', () => {
  expect(run([{ lagMs: 249 }, { lagMs: 500 }])).toEqual([false, true])
  expect(run([{ heap: 0.89 }, { heap: 0.9 }])).toEqual([false, true])
})

test('it is over after three calm samples in a row', () => {
  expect(run([{ lagMs: 500 }, {}, {}, {}, {}])).toEqual([true, true, true, false, false])
  expect(run([{ lagMs: 500 }, {}, {}, { lagMs: 120 }, {}, {}, {}])).toEqual([true, true, true, true, true, true, false])
})

test('signals that swing about a mark do not make it swing', () => {
  const about = (mark: Partial<Signals>, below: Partial<Signals>) =>
    run(Array.from({ length: 40 }, (_, i) => (i % 4 === 0 ? mark : below)))
  expect(about({ lagMs: 260 }, { lagMs: 200 })).not.toContain(false)
  expect(about({ heap: 0.91 }, { heap: 0.87 })).not.toContain(false)
  expect(about({ lagMs: 240 }, { lagMs: 10 })).not.toContain(true)
})

test('each signal is judged by itself', () => {
  const state = createHysteresis()
  state.sample({ lagMs: 500, heap: 0.95 })
  expect([state.late, state.high]).toEqual([true, true])
  for (let sample = 0; sample < 3; sample++) state.sample({ lagMs: 1, heap: 0.88 })
  expect([state.late, state.high]).toEqual([false, true])
})

test('what is measured at each tick decides, until it is closed', () => {
  let tick = (): void => {}
  let closed = false
  let now: Signals = calm
  const every = (ms: number, then: () => void) => {
    expect(ms).toBe(100)
    tick = then
    return () => {
      closed = true
    }
  }
  const pressure = createPressure({ lagMs: 50 }, () => now, every)
  tick()
  expect(pressure.late).toBe(false)
  now = { lagMs: 60, heap: 0 }
  tick()
  expect([pressure.late, pressure.high]).toEqual([true, false])
  pressure.close()
  expect(closed).toBe(true)
})

test('this very process can be measured, and is seen to have been blocked', () => {
  let tick = (): void => {}
  const measuring = (lagMs: number) =>
    createPressure({ lagMs }, undefined, (_, then) => {
      tick = then
      return () => {}
    })
  const idle = measuring(60_000)
  tick()
  expect(idle.late).toBe(false)
  const blocked = measuring(5)
  const until = performance.now() + 110
  while (performance.now() < until);
  tick()
  expect(blocked.late).toBe(true)
})
