import { expect, test } from 'vitest'
import { loadOf } from '../../../../../test/kit/servers/admission-load.ts'
import { RpcError } from '../../core/error.ts'
import { fakeClock, settle } from '../../testing/clock.ts'
import type { Admission, AdmissionDeps, AdmissionOptions, AdmissionRequest } from './admission.ts'
import { createAdmissionControl } from './admission.ts'
import type { AdmittedRequests } from './pressure.ts'

const make = (options: AdmissionOptions = {}, deps: Partial<AdmissionDeps> = {}) => {
  const clock = fakeClock()
  return { clock, control: createAdmissionControl(options, { clock, ...deps }) }
}
const request = (
  overrides: Partial<AdmissionRequest> & { headers?: { [name: string]: string } } = {},
): AdmissionRequest => ({
  method: 'POST',
  peer: '192.0.2.1',
  header: (name) => overrides.headers?.[name],
  ...overrides,
})
const heapHigh: Partial<AdmissionDeps> = { measure: () => ({ heapHigh: true, loopLate: () => false }) }
const reasonOf = (outcome: unknown): string => (outcome instanceof RpcError ? outcome.reason : 'admitted')
const admitted = (outcome: unknown): Admission => {
  if (outcome instanceof RpcError || outcome instanceof Promise) throw new Error(`not admitted: ${reasonOf(outcome)}`)
  return outcome as Admission
}

test('requests up to "concurrency" are admitted, up to "queue" wait in turn, and the rest are refused at once', async () => {
  const { control } = make({ concurrency: 1, queue: 1 })
  const first = admitted(control.admit(request()))
  const second = control.admit(request())
  const third = control.admit(request())
  expect(third).toMatchObject({ reason: 'overloaded', data: { retryAfterMs: 1000 } })
  expect(loadOf(control)).toEqual({ running: 1, waiting: 1, shed: 1 })
  first.release()
  admitted(await second).release()
  expect(loadOf(control)).toEqual({ running: 0, waiting: 0, shed: 1 })
})

test('a slot is freed once, however often it is released', () => {
  const { control } = make({ concurrency: 2, queue: 0 })
  const first = admitted(control.admit(request()))
  admitted(control.admit(request()))
  first.release()
  first.release()
  admitted(control.admit(request()))
  expect(reasonOf(control.admit(request()))).toBe('overloaded')
})

test('a request waits a second at most, and not at all once its client has disconnected', async () => {
  const { control, clock } = make({ concurrency: 1, queue: 2 })
  const first = admitted(control.admit(request()))
  let disconnect = (): void => {}
  const outcomes: string[] = []
  const onClose = (then: () => void): (() => void) => {
    disconnect = then
    return () => {}
  }
  for (const each of [request(), request({ onClose })])
    Promise.resolve(control.admit(each)).then((outcome) => outcomes.push(reasonOf(outcome)), expect.unreachable)
  disconnect()
  await settle()
  expect(outcomes).toEqual(['cancelled'])
  await clock.advance(1000)
  expect(outcomes).toEqual(['cancelled', 'overloaded'])
  first.release()
  expect(loadOf(control)).toMatchObject({ running: 0, waiting: 0 })
  expect(clock.pending).toBe(0)
})

test('a client that disconnected before it was queued does not wait and keeps no slot', async () => {
  const { control, clock } = make({ concurrency: 1, queue: 1 })
  const first = admitted(control.admit(request()))
  const onClose = (then: () => void): (() => void) => {
    then()
    return () => {}
  }
  expect(reasonOf(await control.admit(request({ onClose })))).toBe('cancelled')
  first.release()
  expect(loadOf(control)).toMatchObject({ running: 0, waiting: 0 })
  expect(clock.pending).toBe(0)
})

test('the queue no longer listens to a client that got its slot', async () => {
  const { control } = make({ concurrency: 1, queue: 1 })
  const first = admitted(control.admit(request()))
  const listeners = new Set<() => void>()
  const onClose = (then: () => void): (() => void) => {
    listeners.add(then)
    return () => listeners.delete(then)
  }
  const second = control.admit(request({ onClose }))
  first.release()
  const admission = admitted(await second)
  expect(listeners.size).toBe(0)
  admission.release()
  expect(loadOf(control).running).toBe(0)
})

test('a peer that fills the queue delays its own requests, not those of others', async () => {
  const { control } = make({ concurrency: 1, queue: 10 })
  const order: string[] = []
  let current = admitted(control.admit(request()))
  for (const peer of ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.9'])
    Promise.resolve(control.admit(request({ peer }))).then((outcome) => {
      order.push(peer)
      current = admitted(outcome)
    }, expect.unreachable)
  for (let i = 0; i < 4; i++) {
    current.release()
    await settle()
  }
  expect(order).toEqual(['192.0.2.1', '192.0.2.9', '192.0.2.1', '192.0.2.1'])
})

test('each peer has a bucket, an IPv6 network is one peer, and a refusal says when to retry', async () => {
  const { control, clock } = make({ perPeer: { burst: 2, perSecond: 1 } })
  for (const peer of ['2001:db8::1', '2001:db8::2']) admitted(control.admit(request({ peer })))
  expect(control.admit(request({ peer: '2001:db8::3' }))).toMatchObject({
    reason: 'rateLimited',
    message: 'Too many requests: wait 1 s, then try again',
    data: { retryAfterMs: 1000 },
  })
  admitted(control.admit(request({ peer: '192.0.2.1' })))
  await clock.advance(1000)
  admitted(control.admit(request({ peer: '2001:db8::4' })))
})

test('requests of unknown peers do not share a bucket', () => {
  const { control } = make({ perPeer: { burst: 1, perSecond: 1 } })
  for (let i = 0; i < 5; i++) admitted(control.admit(request({ peer: '' })))
})

test('under pressure new work is refused, but DELETE and OPTIONS are not', () => {
  const { control } = make({}, heapHigh)
  expect(reasonOf(control.admit(request()))).toBe('overloaded')
  expect(reasonOf(control.admit(request({ method: 'GET' })))).toBe('overloaded')
  expect(reasonOf(control.admit(request({ method: 'DELETE' })))).toBe('admitted')
  expect(reasonOf(control.admit(request({ method: 'OPTIONS' })))).toBe('admitted')
})

test('the pressure of the event loop is judged with the number of requests in flight', () => {
  const measure = () => ({ heapHigh: false, loopLate: (running: number) => running >= 8 })
  const { control } = make({}, { measure })
  const few = Array.from({ length: 8 }, () => admitted(control.admit(request())))
  expect(reasonOf(control.admit(request()))).toBe('overloaded')
  few[0]?.release()
  expect(reasonOf(control.admit(request()))).toBe('admitted')
})

test('the measure knows how many requests run, and how many have finished', async () => {
  let requests: AdmittedRequests | undefined
  const measure: AdmissionDeps['measure'] = (_, counts) => {
    requests = counts
    return { heapHigh: false, loopLate: () => false }
  }
  const { control } = make({ concurrency: 2, queue: 1 }, { measure })
  const [first, second] = [admitted(control.admit(request())), admitted(control.admit(request()))]
  const third = control.admit(request())
  expect(requests).toMatchObject({ running: 2, finished: 0 })
  first.release()
  first.release()
  expect(requests).toMatchObject({ running: 2, finished: 1 })
  second.release()
  admitted(await third).release()
  expect(requests).toMatchObject({ running: 0, finished: 3 })
})

test('a request that waited too long for the event loop is refused and counted, unless it may be a cancellation', () => {
  const { control } = make({}, { hasSession: () => true })
  expect(admitted(control.admit(request())).tooLate?.()).toMatchObject({ reason: 'overloaded' })
  expect(loadOf(control).shed).toBe(1)
  const maybe = control.admit(request({ headers: { 'mcp-session-id': 's', 'content-length': '120' } }))
  expect(admitted(maybe).tooLate).toBeUndefined()
})

test('a stream that only waits holds no slot', () => {
  const { control } = make({ concurrency: 1, queue: 0 })
  for (let i = 0; i < 10; i++) admitted(control.admit(request({ method: 'GET' })))
  expect(loadOf(control).running).toBe(0)
})

test('clients that are refused together are not told to retry together', () => {
  const { control } = make({}, heapHigh)
  const waits = Array.from({ length: 40 }, () => (control.admit(request()) as RpcError).data['retryAfterMs'])
  expect(new Set(waits).size).toBe(20)
  expect(Math.max(...waits.map(Number))).toBeLessThan(3000)
})

test('a refusal says the same time to wait in words as in its data', () => {
  const { control } = make({}, heapHigh)
  for (let index = 0; index < 20; index++) {
    const { message, data } = control.admit(request()) as RpcError
    expect(message).toBe(`The server is busy: wait ${Math.ceil(Number(data['retryAfterMs']) / 1000)} s, then try again`)
  }
})

test('a flood of refusals makes few errors, because an error with its stack costs overrides than the rest of the check', () => {
  const { control } = make({}, heapHigh)
  const refusals = Array.from({ length: 1000 }, () => control.admit(request()))
  expect(refusals.every((refusal) => reasonOf(refusal) === 'overloaded')).toBe(true)
  expect(new Set(refusals).size).toBe(20)
  expect(loadOf(control).shed).toBe(1000)
})

const inSession = request({ headers: { 'mcp-session-id': 's', 'content-length': '120' } })
const hasSession = (id: string): boolean => id === 's'

test('a cancellation in a legacy session gets through under any load', async () => {
  for (const full of [{ concurrency: 1, queue: 0 }, {}]) {
    const { control } = make(full, { ...('concurrency' in full ? {} : heapHigh), hasSession })
    if ('concurrency' in full) admitted(control.admit(request()))
    const admission = admitted(control.admit(inSession))
    expect(await admission.recheck(true)).toBeUndefined()
    admission.release()
  }
})

test('a call that looked like a cancellation is judged like any other', async () => {
  const { control } = make({ concurrency: 1, queue: 0 }, { hasSession })
  const first = admitted(control.admit(inSession))
  expect(await first.recheck(false)).toBeUndefined()
  expect(loadOf(control).running).toBe(1)
  const second = admitted(control.admit(inSession))
  expect(reasonOf(await second.recheck(false))).toBe('overloaded')
  second.release()
  first.release()
  expect(loadOf(control).running).toBe(0)
})

test('a request that is released while it waits for its slot keeps none', async () => {
  const { control } = make({ concurrency: 1, queue: 1 }, { hasSession })
  const first = admitted(control.admit(request()))
  const second = admitted(control.admit(inSession))
  const rechecked = second.recheck(false)
  second.release()
  first.release()
  await rechecked
  expect(loadOf(control).running).toBe(0)
})

test.each([
  ['an unknown session', { 'mcp-session-id': 'x', 'content-length': '120' }],
  ['no session', { 'content-length': '120' }],
  ['a body too large for a cancellation', { 'mcp-session-id': 's', 'content-length': '1025' }],
  ['a body of unknown size', { 'mcp-session-id': 's' }],
  ['an invalid size', { 'mcp-session-id': 's', 'content-length': 'small' }],
])('%s does not bypass admission control', (_, headers) => {
  const { control } = make({}, { ...heapHigh, hasSession })
  expect(reasonOf(control.admit(request({ headers })))).toBe('overloaded')
})

test('an ordinary request is not judged twice', async () => {
  const { control } = make({ concurrency: 1, queue: 0 })
  expect(await admitted(control.admit(request())).recheck(false)).toBeUndefined()
})

test('the connections of a peer are limited, and one that closes makes room once', () => {
  const { control } = make({ connectionsPerPeer: 2 })
  const close = control.admitConnection('192.0.2.1')
  control.admitConnection('192.0.2.1')
  expect(control.admitConnection('::ffff:192.0.2.1')).toBeUndefined()
  expect(control.admitConnection('192.0.2.2')).toBeDefined()
  close?.()
  close?.()
  expect(control.admitConnection('192.0.2.1')).toBeDefined()
  expect(control.admitConnection('192.0.2.1')).toBeUndefined()
})
