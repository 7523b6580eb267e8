import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fakeClock, settle } from '../testing/clock.ts'
import type { Connection } from './connection.ts'
import { createConnection } from './connection.ts'
import { RpcError } from './error.ts'
import type { Stop } from './stop.ts'
import { createStop } from './stop.ts'

type Sent = { id?: string; method?: string; params?: { requestId?: string } }

function open(): { connection: Connection; clock: ReturnType<typeof fakeClock>; sent: Sent[]; ended: () => number } {
  const clock = fakeClock()
  const sent: Sent[] = []
  let ends = 0
  const connection = createConnection({
    id: 'c',
    clock,
    answerWithinMs: 1000,
    onClose: () => ends++,
  })
  return { connection, clock, sent, ended: () => ends }
}
const ask = (connection: Connection, sent: Sent[], stop = createStop()): Promise<unknown> =>
  connection.request('roots/list', {}, { send: (message) => sent.push(message), stop })

test('a question is answered by the response that names it', async () => {
  const { connection, sent, clock } = open()
  const [first, second] = [ask(connection, sent), ask(connection, sent)]
  expect(sent.map(({ id }) => id)).toEqual(['sluice-1', 'sluice-2'])
  expect(connection.settle('sluice-2', { result: { roots: ['b'] } })).toBe(true)
  expect(connection.settle('sluice-1', { result: { roots: ['a'] } })).toBe(true)
  expect(await first).toEqual({ roots: ['a'] })
  expect(await second).toEqual({ roots: ['b'] })
  expect(clock.pending).toBe(0)
})

test('a response that matches no open question, or a second one, is not accepted', async () => {
  const { connection, sent } = open()
  const asked = ask(connection, sent)
  await connection.settle('sluice-1', { result: {} })
  await asked
  expect(connection.settle('sluice-1', { result: {} })).toBe(false)
  expect(connection.settle(1, { result: {} })).toBe(false)
  expect(connection.settle('sluice-9', { result: {} })).toBe(false)
})

test('a client’s refusal becomes a failure that the model can read, cut to size', async () => {
  const { connection, sent } = open()
  const asked = ask(connection, sent)
  const settled = connection.settle('sluice-1', { error: { code: -1, message: 'x'.repeat(5000) } })
  await expect(asked).rejects.toMatchObject({ reason: 'toolFailed' })
  expect(await settled).toBe(true)
  await expect(asked).rejects.toThrow(/^.{1,300}$/)
  const silent = ask(connection, sent)
  const silenced = connection.settle('sluice-2', { error: 5 })
  await expect(silent).rejects.toThrow('no reason given')
  expect(await silenced).toBe(true)
})

test('a question without an answer in time is withdrawn', async () => {
  const { connection, clock, sent } = open()
  const asked = ask(connection, sent)
  const refused = expect(asked).rejects.toMatchObject({ reason: 'timeout' })
  await clock.advance(1000)
  await refused
  expect(sent.at(-1)).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 'sluice-1' } })
  expect(connection.settle('sluice-1', { result: {} })).toBe(false)
})

test('a question ends with the call that asked it', async () => {
  const { connection, sent, clock } = open()
  const stop = createStop()
  const asked = ask(connection, sent, stop)
  const { RpcError } = await import('./error.ts')
  stop.stop(new RpcError('cancelled', 'Cancelled'))
  await expect(asked).rejects.toMatchObject({ reason: 'cancelled' })
  expect(clock.pending).toBe(0)
  await expect(ask(connection, sent, stop)).rejects.toMatchObject({ reason: 'cancelled' })
})

test('closing stops running calls, refuses open questions, and actions once', async () => {
  const { connection, sent, ended } = open()
  const stop = createStop()
  connection.enter(0, stop)
  const asked = ask(connection, sent)
  connection.close()
  connection.close()
  await expect(asked).rejects.toMatchObject({ reason: 'cancelled' })
  expect(stop.reason?.reason).toBe('cancelled')
  expect(connection.inFlight.size).toBe(0)
  expect(connection.closed).toBe(true)
  expect(ended()).toBe(1)
  await expect(ask(connection, sent)).rejects.toMatchObject({ reason: 'cancelled' })
})

/** A stop that knows how many listen to it. */
function countingStop(): { readonly stop: Stop; listeners(): number } {
  const stop = createStop()
  let listeners = 0
  const counting: Stop = {
    get reason() {
      return stop.reason
    },
    get signal() {
      return stop.signal
    },
    stop: (reason) => stop.stop(reason),
    onStop(then) {
      const unlisten = stop.onStop(then)
      listeners++
      return () => {
        listeners--
        unlisten()
      }
    },
  }
  return { stop: counting, listeners: () => listeners }
}

/** The events that may happen to a question, in any order and more than once. */
const anyEvent = fc.constantFrom('registered', 'not registered', 'response', 'refusal', 'deadline', 'stop', 'close')

test('in every order of events, a question settles once and then holds no timer, no listener and no entry in the store', async () => {
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.array(anyEvent, { minLength: 1, maxLength: 6 }), async (isShared, events) => {
      const clock = fakeClock()
      const registration = Promise.withResolvers<void>()
      // On a connection of one process this promise is not used.
      registration.promise.catch(() => {})
      const registered = new Set<string>()
      const remote = {
        async change() {},
        registerQuestion(question: string) {
          registered.add(question)
          return registration.promise
        },
        removeQuestion: (question: string) => {
          registered.delete(question)
        },
        settle: async () => false,
        cancel() {},
        pendingSync: undefined,
      }
      const connection = createConnection({ id: 'c', clock, answerWithinMs: 1000, ...(isShared && { remote }) })
      const sent: Sent[] = []
      const { stop, listeners } = countingStop()
      let settled = 0
      const count = (): void => {
        settled++
      }
      const sentLate: Sent[] = []
      const send = (message: Sent): unknown => (settled > 0 && 'id' in message ? sentLate : sent).push(message)
      connection.request('roots/list', {}, { send, stop }).then(count, count)
      const actions: { readonly [event in (typeof events)[number]]: () => unknown } = {
        registered: registration.resolve,
        'not registered': () => registration.reject(new Error('unavailable')),
        response: () => connection.settle(sent[0]?.id ?? 'none', { result: {} }),
        refusal: () => connection.settle(sent[0]?.id ?? 'none', { error: { message: 'no' } }),
        deadline: () => clock.jump(1000),
        stop: () => stop.stop(new RpcError('cancelled', 'Cancelled')),
        close: () => connection.close(),
      }
      for (const event of [...events, 'close'] as const) {
        await actions[event]()
        await settle()
      }
      expect(settled).toBe(1)
      expect([clock.pending, listeners()]).toEqual([0, 0])
      expect([...registered]).toEqual([])
      expect(sentLate).toEqual([])
      // A question that the client has seen is withdrawn when it ends, unless the client ended it.
      expect(sent.filter(({ method }) => method === 'notifications/cancelled').length).toBeLessThanOrEqual(1)
    }),
    { numRuns: 300 },
  )
})
