import { expect, test } from 'vitest'
import { Prepared } from '../core/answer.ts'
import { RpcError } from '../core/error.ts'
import type { EndedCall, Observer } from '../core/observer.ts'
import { aCall } from '../testing/call.ts'
import { fakeClock } from '../testing/clock.ts'
import { observeLayer } from './observe.ts'

function watch(): { events: EndedCall[]; observer: Observer } {
  const events: EndedCall[] = []
  return {
    events,
    observer: {
      ended(event) {
        events.push(event)
      },
    },
  }
}
const observed = (observers: readonly Observer[], clock = fakeClock()) => observeLayer(observers, clock, () => 'ref-1')

test('a call leaves one event with when it came, how long it took and how it ended', async () => {
  const { events, observer } = watch()
  const clock = fakeClock(1000)
  const call = aCall({ id: 'a' })
  const serve = observed(
    [observer],
    clock,
  )(async () => {
    await clock.advance(12)
    return { content: [] }
  })
  await serve(call)
  expect(events).toEqual([
    {
      call,
      outcome: 'complete',
      answer: { content: [] },
      failed: false,
      receivedAt: 1000,
      durationMs: 12,
      thrown: undefined,
    },
  ])
})

test.each([
  [{ isError: true, content: [] }, 'toolError', true],
  [{ resultType: 'input_required' as const }, 'input_required', false],
  [new Prepared('{}'), 'complete', false],
  [{ resultType: 'of my own' as 'complete' }, 'complete', false],
])('the outcome of %o is %s, failed: %s', async (answer, outcome, failed) => {
  const { events, observer } = watch()
  const call = aCall()
  await observed([observer])(async () => answer)(call)
  expect(events).toMatchObject([{ outcome, failed }])
  expect(call.facts.outcome).toBe(outcome)
})

test('a refusal is a failure with the reference the client gets', async () => {
  const { events, observer } = watch()
  const call = aCall()
  const refusal = new RpcError('rateLimited', 'Too many calls')
  await expect(observed([observer])(() => Promise.reject(refusal))(call)).rejects.toBe(refusal)
  expect(events).toMatchObject([{ outcome: 'rateLimited', failed: true, thrown: refusal }])
  expect(call.facts.reference).toBe('ref-1')
})

test('what is no refusal is an internal error', async () => {
  const { events, observer } = watch()
  await expect(observed([observer])(() => Promise.reject(new TypeError('x')))(aCall())).rejects.toThrow()
  expect(events).toMatchObject([{ outcome: 'internalError', failed: true }])
})

test('an observer that throws changes no answer and stops no other observer', async () => {
  const { events, observer } = watch()
  const broken: Observer = {
    ended() {
      throw new Error('disk full')
    },
  }
  const answer = { content: [] }
  await expect(observed([broken, observer])(async () => answer)(aCall())).resolves.toBe(answer)
  expect(events).toHaveLength(1)
})

test('without observers no clock is read, and a failure still has its reference', async () => {
  const call = aCall()
  const noClock = { now: () => expect.unreachable(), after: () => () => {} }
  const serve = observeLayer([], noClock, () => 'ref-1')(() => Promise.reject(new RpcError('timeout', 'x')))
  await expect(serve(call)).rejects.toMatchObject({ reason: 'timeout' })
  expect(call.facts).toMatchObject({ reference: 'ref-1', outcome: 'timeout' })
})
