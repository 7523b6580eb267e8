import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { systemClock } from './clock.ts'

const day = 86_400_000

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test.each([1, 24, 25, 50, 100])('what is due in %i days happens then, and not at once', (days) => {
  const then = vi.fn()
  systemClock.after(days * day, then)
  vi.advanceTimersByTime(days * day - 1)
  expect(then).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(then).toHaveBeenCalledOnce()
})

test('a long wait can be called off at any time', () => {
  const then = vi.fn()
  const callOff = systemClock.after(60 * day, then)
  vi.advanceTimersByTime(40 * day)
  callOff()
  vi.advanceTimersByTime(60 * day)
  expect(then).not.toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(0)
})
