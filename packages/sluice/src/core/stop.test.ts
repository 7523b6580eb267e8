import { expect, test, vi } from 'vitest'
import { RpcError } from './error.ts'
import { createStop, followSignal } from './stop.ts'

const timeout = new RpcError('timeout', 'late')

test('stops once, and the first reason is kept', () => {
  const stop = createStop()
  const listener = vi.fn()
  stop.onStop(listener)
  stop.stop(timeout)
  stop.stop(new RpcError('cancelled', 'again'))
  expect(listener).toHaveBeenCalledExactlyOnceWith(timeout)
  expect(stop.reason).toBe(timeout)
})

test('a late listener is called at once, and an unsubscribed one is not called', () => {
  const stop = createStop()
  const unsubscribed = vi.fn()
  stop.onStop(unsubscribed)()
  stop.stop(timeout)
  const late = vi.fn()
  stop.onStop(late)
  expect(unsubscribed).not.toHaveBeenCalled()
  expect(late).toHaveBeenCalledExactlyOnceWith(timeout)
})

test('the signal aborts with the reason, whether it was taken before or after', () => {
  const before = createStop()
  const { signal } = before
  before.stop(timeout)
  expect(signal.aborted).toBe(true)
  expect(signal.reason).toBe(timeout)
  const after = createStop()
  after.stop(timeout)
  expect(after.signal.reason).toBe(timeout)
})

test('listeners are called before the signal aborts', () => {
  const stop = createStop()
  const order: string[] = []
  stop.signal.addEventListener('abort', () => order.push('work'))
  stop.onStop(() => order.push('layer'))
  stop.stop(timeout)
  expect(order).toEqual(['layer', 'work'])
})

test('follows a foreign signal until it is released', () => {
  const followed = createStop()
  const controller = new AbortController()
  followSignal(controller.signal, followed)
  controller.abort()
  expect(followed.reason?.reason).toBe('cancelled')
  const free = createStop()
  const other = new AbortController()
  followSignal(other.signal, free)()
  other.abort()
  expect(free.reason).toBeUndefined()
  const late = createStop()
  followSignal(controller.signal, late)
  expect(late.reason?.reason).toBe('cancelled')
})
