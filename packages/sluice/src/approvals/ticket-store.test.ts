import { expect, test } from 'vitest'
import type { Store } from '../core/store.ts'
import { memoryStore } from '../stores/memory.ts'
import { createPendingCount, createTicketStore } from './ticket-store.ts'

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

/** An index of this many tickets, every second of another tenant. */
function anIndex(size: number) {
  let read = 0
  const count = createPendingCount({
    async listIndex(_, limit, after = '0') {
      const from = Number(after)
      const length = Math.min(limit, size - from)
      read += length
      return Array.from({ length }, (_, i) => ({
        ...{ id: `${from + i}`, server: 'shop', tool: 'pay', cursor: `${from + i + 1}` },
        tenant: i % 2 === 0 ? 'acme' : 'zeta',
      }))
    },
  })
  return { count, read: () => read }
}

test('pending tickets are counted exactly up to 10 000', async () => {
  expect(await anIndex(9_999).count()).toBe(9_999)
  expect(await anIndex(9_999).count(['acme'])).toBe(5_000)
})

test('more pending tickets cost a count no more than 10 000 do', async () => {
  const { count, read } = anIndex(100_000)
  expect(await count()).toBe(10_000)
  expect(read()).toBe(10_000)
})
