import { expect, test } from 'vitest'
import type { Answer } from '../core/answer.ts'
import type { Handler } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import { createStop } from '../core/stop.ts'
import { aCall, asyncPipeline } from '../testing/call.ts'
import { fakeClock, settle } from '../testing/clock.ts'
import { timeoutLayer } from './timeout.ts'

function asyncTimeout(...options: Parameters<typeof timeoutLayer>) {
  const layer = timeoutLayer(...options)
  return (next: Handler) => asyncPipeline([layer], next)
}

const never = (): Promise<never> => new Promise(() => {})
const withDeadline = (timeoutMs: number) => {
  const call = aCall()
  return { ...call, target: { ...call.target, policy: { ...call.target.policy, timeoutMs } } }
}

test('work that takes too long is aborted and its caller is answered, even if it never ends', async () => {
  const clock = fakeClock()
  const call = withDeadline(5000)
  const { signal } = call.stop
  const refused = expect(asyncTimeout(clock)(never)(call)).rejects.toMatchObject({ reason: 'timeout' })
  await clock.advance(4999)
  expect(signal.aborted).toBe(false)
  await clock.advance(1)
  await refused
  expect(signal.aborted).toBe(true)
})

test('work that ends in time leaves no timer behind', async () => {
  const clock = fakeClock()
  expect(await asyncTimeout(clock)(async () => ({ done: true }))(withDeadline(5000))).toEqual({ done: true })
  await expect(asyncTimeout(clock)(() => Promise.reject(new Error('x')))(withDeadline(5000))).rejects.toThrow('x')
  expect(clock.pending).toBe(0)
})

test('a cancelled call ends at once', async () => {
  const clock = fakeClock()
  const call = withDeadline(5000)
  const refused = expect(asyncTimeout(clock)(never)(call)).rejects.toMatchObject({ reason: 'cancelled' })
  call.stop.stop(new RpcError('cancelled', 'Cancelled'))
  await refused
  expect(clock.pending).toBe(0)
})

test('a call that was cancelled before this layer does not begin', async () => {
  const stop = createStop()
  stop.stop(new RpcError('cancelled', 'Cancelled'))
  let began = false
  const serve = asyncTimeout(fakeClock())(() => {
    began = true
    return never()
  })
  await expect(serve({ ...withDeadline(5000), stop })).rejects.toMatchObject({ reason: 'cancelled' })
  expect(began).toBe(false)
})

test('if the clock knows turns, only calls that outlive theirs get a timer', async () => {
  const clock = fakeClock()
  const turns: (() => void)[] = []
  const layer = asyncTimeout({
    ...clock,
    turn: (then) => {
      turns.push(then)
    },
  })
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
  asyncTimeout(clock)(never)(withDeadline(Number.POSITIVE_INFINITY)).catch(expect.unreachable)
  expect(clock.pending).toBe(0)
})

test('a client may request less time than the target has, and gets no more', async () => {
  for (const [asked, ms] of [
    [100, 100],
    [60_000, 5000],
    [Number.POSITIVE_INFINITY, 5000],
  ]) {
    const clock = fakeClock()
    const call = { ...withDeadline(5000), meta: { 'dev.sluice/deadlineMs': asked } }
    const refused = expect(asyncTimeout(clock)(never)(call)).rejects.toMatchObject({
      reason: 'timeout',
      message: `No answer within ${ms} ms`,
    })
    await clock.advance(ms ?? 0)
    await refused
  }
})

test.each([0, -1, Number.NaN, '100', null, {}])('a deadline of %j is refused, and nothing runs', async (asked) => {
  const clock = fakeClock()
  let ran = false
  const serve = asyncTimeout(clock)(async () => {
    ran = true
    return {}
  })
  const call = { ...withDeadline(5000), meta: { 'dev.sluice/deadlineMs': asked } }
  await expect(serve(call)).rejects.toMatchObject({ reason: 'invalidParams' })
  expect([ran, clock.pending]).toEqual([false, 0])
})

test('work that continues after its deadline is counted until it ends, and its answer is dropped', async () => {
  const clock = fakeClock()
  const stragglers = { running: 0, late: 0 }
  let finish: (answer: Answer) => void = () => {}
  const serve = asyncTimeout(
    clock,
    stragglers,
  )(
    () =>
      new Promise((resolve) => {
        finish = resolve
      }),
  )
  const answer = serve(withDeadline(10)).catch((thrown: RpcError) => thrown.reason)
  await clock.advance(10)
  expect(stragglers).toEqual({ running: 1, late: 0 })
  finish({ content: ['late'] })
  await settle()
  expect(stragglers).toEqual({ running: 0, late: 1 })
  expect(await answer).toBe('timeout')
})

test('work that obeys its signal is not a straggler, and work that ends in time is not counted', async () => {
  const clock = fakeClock()
  const stragglers = { running: 0, late: 0 }
  const heeding = asyncTimeout(
    clock,
    stragglers,
  )(({ stop }) => new Promise((_, reject) => stop.signal.addEventListener('abort', () => reject(new Error('aborted')))))
  const refused = expect(heeding(withDeadline(10))).rejects.toMatchObject({ reason: 'timeout' })
  await clock.advance(10)
  await refused
  await asyncTimeout(clock, stragglers)(async () => ({}))(withDeadline(10))
  expect(stragglers).toEqual({ running: 0, late: 0 })
})

test('an inner layer that throws instead of rejecting leaves no timer behind', async () => {
  const clock = fakeClock()
  const serve = asyncTimeout(clock)(() => {
    throw new Error('synchronous')
  })
  await expect(serve(withDeadline(10))).rejects.toThrow('synchronous')
  expect(clock.pending).toBe(0)
})

test('a call that is answered without waiting gets no timer and no turn', () => {
  const clock = fakeClock()
  const layer = timeoutLayer({ ...clock, turn: () => expect.unreachable() })
  expect(layer(() => ({ done: true }))(withDeadline(10))).toEqual({ done: true })
  expect(clock.pending).toBe(0)
})

test('a call that is stopped while its work begins is answered with the reason', async () => {
  const clock = fakeClock()
  const stop = createStop()
  const serve = asyncTimeout(clock)(() => {
    stop.stop(new RpcError('cancelled', 'Cancelled'))
    return never()
  })
  await expect(serve({ ...withDeadline(5000), stop })).rejects.toMatchObject({ reason: 'cancelled' })
  expect(clock.pending).toBe(0)
})
