import { expect, test, vi } from 'vitest'
import { RpcError } from './error.ts'
import { createStop, followSignal } from './stop.ts'

const timeout = new RpcError('timeout', 'late')

test('stops once, and the first reason stands', () => {
  const stop = createStop()
  const hear = vi.fn()
  stop.onStop(hear)
  stop.stop(timeout)
  stop.stop(new RpcError('cancelled', 'again'))
  expect(hear).toHaveBeenCalledExactlyOnceWith(timeout)
  expect(stop.reason).toBe(timeout)
})

test('who comes late hears at once, and who left does not hear', () => {
  const stop = createStop()
  const left = vi.fn()
  stop.onStop(left)()
  stop.stop(timeout)
  const late = vi.fn()
  stop.onStop(late)
  expect(left).not.toHaveBeenCalled()
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

test('whoever waits for the answer hears before the work does', () => {
  const stop = createStop()
  const order: string[] = []
  stop.signal.addEventListener('abort', () => order.push('work'))
  stop.onStop(() => order.push('layer'))
  stop.stop(timeout)
  expect(order).toEqual(['layer', 'work'])
})

test("follows somebody else's signal until it lets go", () => {
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
