import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { systemClock } from './clock.ts'

const day = 86_400_000

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test.each([1, 24, 25, 50, 100])('a timer of %i days fires after that time, and not at once', (days) => {
  const then = vi.fn()
  systemClock.after(days * day, then)
  vi.advanceTimersByTime(days * day - 1)
  expect(then).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(then).toHaveBeenCalledOnce()
})

test('a long timer can be cancelled at any time', () => {
  const then = vi.fn()
  const cancelTimer = systemClock.after(60 * day, then)
  vi.advanceTimersByTime(40 * day)
  cancelTimer()
  vi.advanceTimersByTime(60 * day)
  expect(then).not.toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(0)
})
