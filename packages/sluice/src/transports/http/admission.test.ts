import { expect, test } from 'vitest'
import { RpcError } from '../../core/error.ts'
import { fakeClock, settle } from '../../testing/clock.ts'
import type { Admission, AdmissionDeps, AdmissionOptions, AdmissionRequest } from './admission.ts'
import { createAdmissionControl } from './admission.ts'

const make = (options: AdmissionOptions = {}, parts: Partial<AdmissionDeps> = {}) => {
  const clock = fakeClock()
  return { clock, gate: createAdmissionControl(options, { clock, ...parts }) }
}
const knock = (more: Partial<AdmissionRequest> & { headers?: { [name: string]: string } } = {}): AdmissionRequest => ({
  method: 'POST',
  peer: '192.0.2.1',
  header: (name) => more.headers?.[name],
  ...more,
})
const reasonOf = (outcome: unknown): string => (outcome instanceof RpcError ? outcome.reason : 'admitted')
const admitted = (outcome: unknown): Admission => {
  if (outcome instanceof RpcError || outcome instanceof Promise) throw new Error(`not admitted: ${reasonOf(outcome)}`)
  return outcome as Admission
}

test('so many are let in, so many wait in turn, and the rest are refused at once', async () => {
  const { gate } = make({ concurrency: 1, queue: 1 })
  const first = admitted(gate.admit(knock()))
  const second = gate.admit(knock())
  const third = gate.admit(knock())
  expect(third).toMatchObject({ reason: 'overloaded', data: { retryAfterMs: 1000 } })
  expect(gate.load).toEqual({ running: 1, waiting: 1, shed: 1 })
  first.release()
  admitted(await second).release()
  expect(gate.load).toEqual({ running: 0, waiting: 0, shed: 1 })
})

test('a slot is given back once, however often it is released', () => {
  const { gate } = make({ concurrency: 2, queue: 0 })
  const first = admitted(gate.admit(knock()))
  admitted(gate.admit(knock()))
  first.release()
  first.release()
  admitted(gate.admit(knock()))
  expect(reasonOf(gate.admit(knock()))).toBe('overloaded')
})

test('nobody waits longer than a second, and whoever goes away does not wait', async () => {
  const { gate, clock } = make({ concurrency: 1, queue: 2 })
  const first = admitted(gate.admit(knock()))
  let go = (): void => {}
  const outcomes: string[] = []
  const onClose = (then: () => void): (() => void) => {
    go = then
    return () => {}
  }
  for (const each of [knock(), knock({ onClose })])
    Promise.resolve(gate.admit(each)).then((outcome) => outcomes.push(reasonOf(outcome)), expect.unreachable)
  go()
  await settle()
  expect(outcomes).toEqual(['cancelled'])
  await clock.advance(1000)
  expect(outcomes).toEqual(['cancelled', 'overloaded'])
  first.release()
  expect(gate.load).toMatchObject({ running: 0, waiting: 0 })
  expect(clock.pending).toBe(0)
})

test('a client that left before it was queued does not wait and keeps no slot', async () => {
  const { gate, clock } = make({ concurrency: 1, queue: 1 })
  const first = admitted(gate.admit(knock()))
  const onClose = (then: () => void): (() => void) => {
    then()
    return () => {}
  }
  expect(reasonOf(await gate.admit(knock({ onClose })))).toBe('cancelled')
  first.release()
  expect(gate.load).toMatchObject({ running: 0, waiting: 0 })
  expect(clock.pending).toBe(0)
})

test('a client that leaves after it got its slot is not heard by the queue any more', async () => {
  const { gate } = make({ concurrency: 1, queue: 1 })
  const first = admitted(gate.admit(knock()))
  const listeners = new Set<() => void>()
  const onClose = (then: () => void): (() => void) => {
    listeners.add(then)
    return () => listeners.delete(then)
  }
  const second = gate.admit(knock({ onClose }))
  first.release()
  const admission = admitted(await second)
  expect(listeners.size).toBe(0)
  admission.release()
  expect(gate.load.running).toBe(0)
})

test('a peer that fills the queue waits for its own, not before others', async () => {
  const { gate } = make({ concurrency: 1, queue: 10 })
  const order: string[] = []
  let current = admitted(gate.admit(knock()))
  for (const peer of ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.9'])
    Promise.resolve(gate.admit(knock({ peer }))).then((outcome) => {
      order.push(peer)
      current = admitted(outcome)
    }, expect.unreachable)
  for (let i = 0; i < 4; i++) {
    current.release()
    await settle()
  }
  expect(order).toEqual(['192.0.2.1', '192.0.2.9', '192.0.2.1', '192.0.2.1'])
})

test('a peer has a bucket, an IPv6 network being one peer, and is told when to come back', async () => {
  const { gate, clock } = make({ perPeer: { burst: 2, perSecond: 1 } })
  for (const peer of ['2001:db8::1', '2001:db8::2']) admitted(gate.admit(knock({ peer })))
  expect(gate.admit(knock({ peer: '2001:db8::3' }))).toMatchObject({
    reason: 'rateLimited',
    message: 'Too many requests: wait 1 s, then try again',
    data: { retryAfterMs: 1000 },
  })
  admitted(gate.admit(knock({ peer: '192.0.2.1' })))
  await clock.advance(1000)
  admitted(gate.admit(knock({ peer: '2001:db8::4' })))
})

test('where the peer is not known there is no bucket for all', () => {
  const { gate } = make({ perPeer: { burst: 1, perSecond: 1 } })
  for (let i = 0; i < 5; i++) admitted(gate.admit(knock({ peer: '' })))
})

test('under pressure new work is refused; what ends a session or only asks the way is not', () => {
  const { gate } = make({}, { pressure: { heapHigh: true, loopLate: false } })
  expect(reasonOf(gate.admit(knock()))).toBe('overloaded')
  expect(reasonOf(gate.admit(knock({ method: 'GET' })))).toBe('overloaded')
  expect(reasonOf(gate.admit(knock({ method: 'DELETE' })))).toBe('admitted')
  expect(reasonOf(gate.admit(knock({ method: 'OPTIONS' })))).toBe('admitted')
})

test('a loop that is late refuses new work only while more than a few requests are running', () => {
  const { gate } = make({}, { pressure: { heapHigh: false, loopLate: true } })
  const few = Array.from({ length: 8 }, () => admitted(gate.admit(knock())))
  expect(reasonOf(gate.admit(knock()))).toBe('overloaded')
  few[0]?.release()
  expect(reasonOf(gate.admit(knock()))).toBe('admitted')
})

test('a request that waited too long for the loop is refused and counted; one that may be a cancellation is not', () => {
  const { gate } = make({}, { hasSession: () => true })
  expect(admitted(gate.admit(knock())).tooLate?.()).toMatchObject({ reason: 'overloaded' })
  expect(gate.load.shed).toBe(1)
  const maybe = gate.admit(knock({ headers: { 'mcp-session-id': 's', 'content-length': '120' } }))
  expect(admitted(maybe).tooLate).toBeUndefined()
})

test('a stream that only waits holds no slot', () => {
  const { gate } = make({ concurrency: 1, queue: 0 })
  for (let i = 0; i < 10; i++) admitted(gate.admit(knock({ method: 'GET' })))
  expect(gate.load.running).toBe(0)
})

test('those refused together are not told to come back together', () => {
  const { gate } = make({}, { pressure: { heapHigh: true, loopLate: false } })
  const waits = Array.from({ length: 40 }, () => (gate.admit(knock()) as RpcError).data['retryAfterMs'])
  expect(new Set(waits).size).toBe(20)
  expect(Math.max(...waits.map(Number))).toBeLessThan(3000)
})

test('a flood of refusals makes few errors: an error with its stack costs more than the rest of the gate', () => {
  const { gate } = make({}, { pressure: { heapHigh: true, loopLate: false } })
  const refusals = Array.from({ length: 1000 }, () => gate.admit(knock()))
  expect(refusals.every((refusal) => reasonOf(refusal) === 'overloaded')).toBe(true)
  expect(new Set(refusals).size).toBe(20)
  expect(gate.load.shed).toBe(1000)
})

const inSession = knock({ headers: { 'mcp-session-id': 's', 'content-length': '120' } })
const hasSession = (id: string): boolean => id === 's'

test('a cancellation in a legacy session gets through whatever the load', async () => {
  for (const full of [{ concurrency: 1, queue: 0 }, {}]) {
    const { gate } = make(full, { pressure: { heapHigh: !('concurrency' in full), loopLate: false }, hasSession })
    if ('concurrency' in full) admitted(gate.admit(knock()))
    const admission = admitted(gate.admit(inSession))
    expect(await admission.recheck(true)).toBeUndefined()
    admission.release()
  }
})

test('what came in as if it were one, and is a call, is judged like any other', async () => {
  const { gate } = make({ concurrency: 1, queue: 0 }, { hasSession })
  const first = admitted(gate.admit(inSession))
  expect(await first.recheck(false)).toBeUndefined()
  expect(gate.load.running).toBe(1)
  const second = admitted(gate.admit(inSession))
  expect(reasonOf(await second.recheck(false))).toBe('overloaded')
  second.release()
  first.release()
  expect(gate.load.running).toBe(0)
})

test('one that waits for its slot and is released meanwhile keeps none', async () => {
  const { gate } = make({ concurrency: 1, queue: 1 }, { hasSession })
  const first = admitted(gate.admit(knock()))
  const second = admitted(gate.admit(inSession))
  const heard = second.recheck(false)
  second.release()
  first.release()
  await heard
  expect(gate.load.running).toBe(0)
})

test.each([
  ['a session nobody has', { 'mcp-session-id': 'x', 'content-length': '120' }],
  ['no session', { 'content-length': '120' }],
  ['a body too large for it', { 'mcp-session-id': 's', 'content-length': '1025' }],
  ['a body of unknown size', { 'mcp-session-id': 's' }],
  ['a size that is none', { 'mcp-session-id': 's', 'content-length': 'small' }],
])('%s is no way around the gate', (_, headers) => {
  const { gate } = make({}, { pressure: { heapHigh: true, loopLate: false }, hasSession })
  expect(reasonOf(gate.admit(knock({ headers })))).toBe('overloaded')
})

test('an ordinary request is not judged twice', async () => {
  const { gate } = make({ concurrency: 1, queue: 0 })
  expect(await admitted(gate.admit(knock())).recheck(false)).toBeUndefined()
})

test('a peer has so many connections, and one that closes makes room, once', () => {
  const { gate } = make({ connectionsPerPeer: 2 })
  const close = gate.admitConnection('192.0.2.1')
  gate.admitConnection('192.0.2.1')
  expect(gate.admitConnection('::ffff:192.0.2.1')).toBeUndefined()
  expect(gate.admitConnection('192.0.2.2')).toBeDefined()
  close?.()
  close?.()
  expect(gate.admitConnection('192.0.2.1')).toBeDefined()
  expect(gate.admitConnection('192.0.2.1')).toBeUndefined()
})
