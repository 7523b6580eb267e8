import { expect, test } from 'vitest'
import type { SlotClaim, Slots, SlotsOptions } from './slots.ts'
import { createSlots } from './slots.ts'

const queueUp = (slots: Slots, lane: string, heard: string[], name = lane) =>
  slots.wait(lane, (held) => heard.push(held ? name : `${name} displaced`))

/** Slots whose held claims the test ends in the order they were held. */
function make(options: SlotsOptions) {
  const inner = createSlots(options)
  const all: SlotClaim[] = []
  const keep = (claim: SlotClaim | undefined): SlotClaim | undefined => {
    if (claim) all.push(claim)
    return claim
  }
  const slots: Slots = {
    take: () => keep(inner.take()),
    wait: (lane, settled) => keep(inner.wait(lane, settled)),
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

test('there are so many slots and no more, and one given back can be taken again', () => {
  const slots = make({ slots: 2, queue: 0 })
  expect([slots.take(), slots.take(), slots.take()].map((claim) => claim?.state)).toEqual(['held', 'held', undefined])
  slots.free()
  expect(slots.take()).toBeDefined()
  expect(slots.taken).toBe(2)
})

test('a slot given back goes to whoever waits, and no newcomer gets in between', () => {
  const slots = make({ slots: 1, queue: 2 })
  const heard: string[] = []
  slots.take()
  queueUp(slots, 'a', heard)
  slots.free()
  expect(heard).toEqual(['a'])
  expect(slots.take()).toBeUndefined()
  slots.free()
  expect([slots.taken, slots.waiting]).toEqual([0, 0])
})

test('slots go round the lanes, one each', () => {
  const slots = make({ slots: 1, queue: 10 })
  const heard: string[] = []
  slots.take()
  for (const name of ['a1', 'a2', 'a3', 'a4']) queueUp(slots, 'a', heard, name)
  for (const name of ['b1', 'b2']) queueUp(slots, 'b', heard, name)
  for (let i = 0; i < 6; i++) slots.free()
  expect(heard).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'a4'])
})

test('in a full queue, a lane with little in it takes the last place of the longest', () => {
  const slots = make({ slots: 1, queue: 3 })
  const heard: string[] = []
  slots.take()
  for (const name of ['a1', 'a2', 'a3']) queueUp(slots, 'a', heard, name)
  expect(queueUp(slots, 'a', heard, 'a4')).toBeUndefined()
  expect(queueUp(slots, 'b', heard, 'b1')).toBeDefined()
  expect(heard).toEqual(['a3 displaced'])
  // Two and one: taking another place would only turn it round.
  expect(queueUp(slots, 'b', heard, 'b2')).toBeUndefined()
  expect(queueUp(slots, 'a', heard, 'a5')).toBeUndefined()
  expect(slots.waiting).toBe(3)
})

/** Something comes, and is in, waits or is refused. */
const arrive = (slots: Slots, lane: string): 'in' | 'waits' | 'refused' => {
  if (slots.take()) return 'in'
  return slots.wait(lane, () => {}) ? 'waits' : 'refused'
}

test('a lane that floods does not wait any more; another still does, and gets the next slot', () => {
  const slots = make({ slots: 4, queue: 2 })
  for (let i = 0; i < 200; i++) arrive(slots, 'flood')
  expect(slots.waiting).toBe(2)
  // Those who waited before it was known as a flood are served; then only who comes at the right moment is.
  for (let i = 0; i < 2; i++) slots.free()
  expect([arrive(slots, 'flood'), slots.waiting]).toEqual(['refused', 0])
  const heard: string[] = []
  expect(queueUp(slots, 'quiet', heard)).toBeDefined()
  slots.free()
  expect(heard).toEqual(['quiet'])
  slots.free()
  expect(arrive(slots, 'flood')).toBe('in')
})

test('when the flood is over, everybody may wait again', () => {
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

test('a little more than fits is no flood: everybody may wait', () => {
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

test('whoever leaves the queue is not called and makes room', () => {
  const slots = make({ slots: 1, queue: 1 })
  const heard: string[] = []
  slots.take()
  const claim = queueUp(slots, 'a', heard)
  claim?.release()
  claim?.release()
  expect(slots.waiting).toBe(0)
  queueUp(slots, 'b', heard)
  slots.free()
  expect(heard).toEqual(['b'])
})

test('a claim ended after it was held, and before its owner heard of it, frees the slot', () => {
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

test('twenty thousand claims that end as soon as they are held do not overflow the stack', () => {
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
])('%o is a mistake', (options) => {
  expect(() => createSlots(options)).toThrow(TypeError)
})
