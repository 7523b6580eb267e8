import { expect, test } from 'vitest'
import type { SlotClaim, Slots, SlotsOptions } from './slots.ts'
import { createSlots } from './slots.ts'

const queueUp = (slots: Slots, lane: string, events: string[], name = lane) =>
  slots.wait(lane, (held) => events.push(held ? name : `${name} displaced`))

/** Creates slots whose held claims the test releases in the order they were held. */
function make(options: SlotsOptions) {
  const inner = createSlots(options)
  const all: SlotClaim[] = []
  const track = (claim: SlotClaim | undefined): SlotClaim | undefined => {
    if (claim) all.push(claim)
    return claim
  }
  const slots: Slots = {
    take: () => track(inner.take()),
    wait: (lane, settled) => track(inner.wait(lane, settled)),
    get taken() {
      return inner.taken
    },
    get waiting() {
      return inner.waiting
    },
  }
  const free = (): void => all.find(({ state }) => state === 'held')?.release()
  return Object.assign(slots, { free })
}

test('there are no more slots than configured, and a released slot can be taken again', () => {
  const slots = make({ slots: 2, queue: 0 })
  expect([slots.take(), slots.take(), slots.take()].map((claim) => claim?.state)).toEqual(['held', 'held', undefined])
  slots.free()
  expect(slots.take()).toBeDefined()
  expect(slots.taken).toBe(2)
})

test('a released slot goes to a waiting claim before any new claim', () => {
  const slots = make({ slots: 1, queue: 2 })
  const events: string[] = []
  slots.take()
  queueUp(slots, 'a', events)
  slots.free()
  expect(events).toEqual(['a'])
  expect(slots.take()).toBeUndefined()
  slots.free()
  expect([slots.taken, slots.waiting]).toEqual([0, 0])
})

test('a slot that is released while it is granted goes to a waiting claim before a new one', () => {
  const slots = make({ slots: 1, queue: 2 })
  const events: string[] = []
  slots.take()
  const first = slots.wait('a', () => {
    first?.release()
    expect(slots.take()).toBeUndefined()
  })
  queueUp(slots, 'b', events)
  slots.free()
  expect(events).toEqual(['b'])
})

test('free slots go to the lanes in turn', () => {
  const slots = make({ slots: 1, queue: 10 })
  const events: string[] = []
  slots.take()
  for (const name of ['a1', 'a2', 'a3', 'a4']) queueUp(slots, 'a', events, name)
  for (const name of ['b1', 'b2']) queueUp(slots, 'b', events, name)
  for (let i = 0; i < 6; i++) slots.free()
  expect(events).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'a4'])
})

test('in a full queue, a lane with few claims displaces the last claim of the longest lane', () => {
  const slots = make({ slots: 1, queue: 3 })
  const events: string[] = []
  slots.take()
  for (const name of ['a1', 'a2', 'a3']) queueUp(slots, 'a', events, name)
  expect(queueUp(slots, 'a', events, 'a4')).toBeUndefined()
  expect(queueUp(slots, 'b', events, 'b1')).toBeDefined()
  expect(events).toEqual(['a3 displaced'])
  // The lanes have two and one: displacing another claim would only reverse that.
  expect(queueUp(slots, 'b', events, 'b2')).toBeUndefined()
  expect(queueUp(slots, 'a', events, 'a5')).toBeUndefined()
  expect(slots.waiting).toBe(3)
})

/** Lets a claim arrive. It is admitted, queued or refused. */
const arrive = (slots: Slots, lane: string): 'in' | 'waits' | 'refused' => {
  if (slots.take()) return 'in'
  return slots.wait(lane, () => {}) ? 'waits' : 'refused'
}

test('a flooding lane is no longer queued, while another lane is queued and gets the next slot', () => {
  const slots = make({ slots: 4, queue: 2 })
  for (let i = 0; i < 200; i++) arrive(slots, 'flood')
  expect(slots.waiting).toBe(2)
  // Claims queued before the flood was detected are served. After that, a claim needs a slot that is free when it
  // arrives.
  for (let i = 0; i < 2; i++) slots.free()
  expect([arrive(slots, 'flood'), slots.waiting]).toEqual(['refused', 0])
  const events: string[] = []
  expect(queueUp(slots, 'quiet', events)).toBeDefined()
  slots.free()
  expect(events).toEqual(['quiet'])
  slots.free()
  expect(arrive(slots, 'flood')).toBe('in')
})

test('after the flood, every lane is queued again', () => {
  const slots = make({ slots: 1, queue: 1 })
  for (let i = 0; i < 200; i++) arrive(slots, 'flood')
  slots.free()
  expect(arrive(slots, 'flood')).toBe('refused')
  for (let i = 0; i < 200; i++) {
    slots.free()
    slots.take()
  }
  expect(arrive(slots, 'flood')).toBe('waits')
})

test('slightly more load than capacity is not a flood, and every lane is queued', () => {
  const slots = make({ slots: 10, queue: 5 })
  const seen = new Map<string, number>()
  for (let round = 0; round < 100; round++) {
    for (let i = 0; i < 12; i++) {
      const outcome = arrive(slots, 'a')
      seen.set(outcome, (seen.get(outcome) ?? 0) + 1)
    }
    while (slots.taken > 0) slots.free()
  }
  expect([seen.get('in'), seen.get('waits'), seen.get('refused')]).toEqual([1000, 200, undefined])
})

test('a claim that leaves the queue is not settled and makes room', () => {
  const slots = make({ slots: 1, queue: 1 })
  const events: string[] = []
  slots.take()
  const claim = queueUp(slots, 'a', events)
  claim?.release()
  claim?.release()
  expect(slots.waiting).toBe(0)
  queueUp(slots, 'b', events)
  slots.free()
  expect(events).toEqual(['b'])
})

test('a claim released after it was held, and before its owner was notified, frees the slot', () => {
  const slots = make({ slots: 1, queue: 2 })
  const first = slots.take()
  const second = slots.wait('a', () => {})
  const third = slots.wait('a', () => {})
  first?.release()
  expect(second?.state).toBe('held')
  second?.release()
  second?.release()
  expect([third?.state, slots.taken]).toEqual(['held', 1])
})

test('twenty thousand claims that are released as soon as they are held do not overflow the stack', () => {
  const slots = createSlots({ slots: 1, queue: 20_000 })
  const first = slots.take()
  let held = 0
  for (let index = 0; index < 20_000; index++) {
    const claim = slots.wait('a', () => {
      held++
      claim?.release()
    })
  }
  first?.release()
  expect([held, slots.taken, slots.waiting]).toEqual([20_000, 0, 0])
})

test.each([
  { slots: 0, queue: 1 },
  { slots: Number.NaN, queue: 1 },
  { slots: 1, queue: -1 },
])('the options %o are refused', (options) => {
  expect(() => createSlots(options)).toThrow(TypeError)
})
