import { expect, test } from 'vitest'
import type { Store } from '../core/store.ts'
import { memoryStore } from '../stores/memory.ts'
import { createTicketStore } from './ticket-store.ts'

/** A store that counts its swaps. */
function counting(): { store: Store; swaps: () => number } {
  const store = memoryStore()
  let swaps = 0
  const swap: Store['swap'] = (...args) => {
    swaps++
    return store.swap(...args)
  }
  return { store: { ...store, swap }, swaps: () => swaps }
}
const times = { decideMs: 1000, runMs: 1000, keepMs: 1000 }
const ids = (amount: number): string[] => Array.from({ length: amount }, () => crypto.randomUUID())

test('a caller gets exactly the maximum number of slots, also concurrently', async () => {
  const { store } = counting()
  const { takeSlot } = createTicketStore(store, times)
  const taken = await Promise.all(ids(100).map((id) => takeSlot('acme', 'ann', id, 100)))
  expect(new Set(taken).size).toBe(100)
  expect(taken).not.toContain(undefined)
  expect(await takeSlot('acme', 'ann', crypto.randomUUID(), 100)).toBeUndefined()
  expect(await takeSlot('acme', 'bob', crypto.randomUUID(), 100)).toBeDefined()
})

test('concurrent calls do not race for the same slots', async () => {
  const { store, swaps } = counting()
  const { takeSlot } = createTicketStore(store, times)
  await Promise.all(ids(200).map((id) => takeSlot('acme', 'ann', id, 10_000)))
  // If each call started at slot 0, there would be 20 100 swaps.
  expect(swaps()).toBeLessThan(1_000)
})
