import { expect, test } from 'vitest'
import { RpcError } from '../core/error.ts'
import { createStop } from '../core/stop.ts'
import { aCall } from '../testing/call.ts'
import { fakeClock } from '../testing/clock.ts'
import { timeout } from './timeout.ts'

const never = (): Promise<never> => new Promise(() => {})
const withDeadline = (timeoutMs: number) => {
  const call = aCall()
  return { ...call, target: { ...call.target, policy: { ...call.target.policy, timeoutMs } } }
}

test('work that takes too long is aborted and its caller answered, even if it never ends', async () => {
  const clock = fakeClock()
  const call = withDeadline(5000)
  const { signal } = call.stop
  const refused = expect(timeout(clock)(never)(call)).rejects.toMatchObject({ reason: 'timeout' })
  await clock.advance(4999)
  expect(signal.aborted).toBe(false)
  await clock.advance(1)
  await refused
  expect(signal.aborted).toBe(true)
})

test('work that ends in time leaves no timer behind', async () => {
  const clock = fakeClock()
  expect(await timeout(clock)(async () => ({ done: true }))(withDeadline(5000))).toEqual({ done: true })
  await expect(timeout(clock)(() => Promise.reject(new Error('x')))(withDeadline(5000))).rejects.toThrow('x')
  expect(clock.pending).toBe(0)
})

test('a cancelled call is left at once', async () => {
  const clock = fakeClock()
  const call = withDeadline(5000)
  const refused = expect(timeout(clock)(never)(call)).rejects.toMatchObject({ reason: 'cancelled' })
  call.stop.stop(new RpcError('cancelled', 'gone'))
  await refused
  expect(clock.pending).toBe(0)
})

test('a call that was cancelled before it came here does not wait', async () => {
  const stop = createStop()
  stop.stop(new RpcError('cancelled', 'gone'))
  await expect(timeout(fakeClock())(never)({ ...withDeadline(5000), stop })).rejects.toMatchObject({
    reason: 'cancelled',
  })
})

test('where turns are known, only calls that outlive theirs get a timer', async () => {
  const clock = fakeClock()
  const turns: (() => void)[] = []
  const layer = timeout({ ...clock, turn: (then) => void turns.push(then) })
  const quick = layer(async () => ({ done: true }))(withDeadline(5000))
  const slow = layer(never)(withDeadline(5000))
  const refused = expect(slow).rejects.toMatchObject({ reason: 'timeout' })
  expect(await quick).toEqual({ done: true })
  expect(turns).toHaveLength(1)
  expect(clock.pending).toBe(0)
  await clock.advance(100)
  turns.shift()?.()
  expect(clock.pending).toBe(1)
  await clock.advance(4900)
  await refused
  expect(turns).toHaveLength(0)
})

test('streams have no deadline', async () => {
  const clock = fakeClock()
  void timeout(clock)(never)(withDeadline(Number.POSITIVE_INFINITY))
  expect(clock.pending).toBe(0)
})
