import { expect, test } from 'vitest'
import { createSlots } from './slots.ts'

const queueUp = (slots: ReturnType<typeof createSlots>, lane: string, heard: string[], name = lane) =>
  slots.wait(lane, (got) => heard.push(got ? name : `${name} displaced`))

test('there are so many slots and no more, and one given back can be taken again', () => {
  const slots = createSlots({ slots: 2, queue: 0 })
  expect([slots.take(), slots.take(), slots.take()]).toEqual([true, true, false])
  slots.free()
  expect(slots.take()).toBe(true)
  expect(slots.taken).toBe(2)
})

test('a slot given back goes to whoever waits, and no newcomer gets in between', () => {
  const slots = createSlots({ slots: 1, queue: 2 })
  const heard: string[] = []
  slots.take()
  queueUp(slots, 'a', heard)
  slots.free()
  expect(heard).toEqual(['a'])
  expect(slots.take()).toBe(false)
  slots.free()
  expect([slots.taken, slots.waiting]).toEqual([0, 0])
})

test('slots go round the lanes, one each', () => {
  const slots = createSlots({ slots: 1, queue: 10 })
  const heard: string[] = []
  slots.take()
  for (const name of ['a1', 'a2', 'a3', 'a4']) queueUp(slots, 'a', heard, name)
  for (const name of ['b1', 'b2']) queueUp(slots, 'b', heard, name)
  for (let i = 0; i < 6; i++) slots.free()
  expect(heard).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'a4'])
})

test('in a full queue, a lane with little in it takes the last place of the longest', () => {
  const slots = createSlots({ slots: 1, queue: 3 })
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

test('whoever leaves the queue is not called and makes room', () => {
  const slots = createSlots({ slots: 1, queue: 1 })
  const heard: string[] = []
  slots.take()
  const leave = queueUp(slots, 'a', heard)
  leave?.()
  leave?.()
  expect(slots.waiting).toBe(0)
  queueUp(slots, 'b', heard)
  slots.free()
  expect(heard).toEqual(['b'])
})

test.each([
  { slots: 0, queue: 1 },
  { slots: Number.NaN, queue: 1 },
  { slots: 1, queue: -1 },
])('%o is a mistake', (options) => {
  expect(() => createSlots(options)).toThrow(TypeError)
})
