import { expect, test } from 'vitest'
import type { PressureMonitorDeps } from './pressure-monitor.ts'
import { createPressureMonitor } from './pressure-monitor.ts'

function create(deps: Partial<PressureMonitorDeps> = {}) {
  let tick = (): void => {}
  let closed = false
  const monitor = createPressureMonitor(
    {},
    {
      requests: { running: 0, finished: 0 },
      turns: { refuses: () => false },
      every(ms, then) {
        expect(ms).toBe(100)
        tick = then
        return () => {
          closed = true
        }
      },
      ...deps,
    },
  )
  return { monitor, tick: () => tick(), isClosed: () => closed }
}

test('the sample of each tick decides, until the monitor is closed', () => {
  let heap = 0.3
  const { monitor, tick, isClosed } = create({ measure: () => ({ heap, busyMs: 0, idleMs: 0 }) })
  tick()
  expect(monitor.heapHigh).toBe(false)
  heap = 0.95
  expect(monitor.heapHigh).toBe(false)
  tick()
  expect(monitor.heapHigh).toBe(true)
  monitor.close()
  expect(isClosed()).toBe(true)
})

test('the turn queue is asked with the work of the requests in flight, but not for a few of them', () => {
  const asked: number[] = []
  const refuses = (backlogMs: number): boolean => asked.push(backlogMs) > 0
  const [process, requests] = [
    { heap: 0, busyMs: 0, idleMs: 0 },
    { running: 30, finished: 0 },
  ]
  const { monitor, tick } = create({ turns: { refuses }, measure: () => ({ ...process }), requests })
  for (let index = 0; index < 2; index++) {
    process.busyMs += 100
    requests.finished += 10
    tick()
  }
  expect([7, 8, 40].map((running) => monitor.loopLate(running))).toEqual([false, true, true])
  expect(asked).toEqual([80, 400])
})

test('the monitor measures this process', () => {
  const { monitor, tick } = create()
  tick()
  expect([monitor.heapHigh, monitor.loopLate(100)]).toEqual([false, false])
})
