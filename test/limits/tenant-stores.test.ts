/**
 * A tenant can neither read, change, list, decrement nor guess another's data, by any operation of a store. The table
 * is derived from the store itself: a new operation without separation fails here.
 */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { silentLogger } from '../../packages/sluice/src/core/log.ts'
import type { Key, Store } from '../../packages/sluice/src/core/store.ts'
import { createTenants } from '../../packages/sluice/src/layers/tenant-registry.ts'
import { memoryStore } from '../../packages/sluice/src/stores/memory.ts'
import { fakeClock } from '../../packages/sluice/src/testing/clock.ts'

const bucket = { burst: 1, perSecond: 0.001 }
/** What each operation does to a key, and returns. */
const attempts: { readonly [verb: string]: (store: Store, key: Key) => Promise<unknown> } = {
  get: (store, key) => store.get(key),
  set: (store, key) => store.set(key, 'foreign'),
  swap: (store, key) => store.swap(key, 'mine', 'foreign'),
  delete: (store, key) => store.delete(key),
  take: (store, key) => store.take(key, bucket),
  // The number belongs to the store: it shows that others write, but not what.
  append: async (store, key) => (await store.append(key, 'foreign')).slice(0, -1),
  list: (store) => store.list([], { limit: 100 }),
}

/** A tenant with an entry, a log and an empty bucket. */
async function settled(tenants: ReturnType<typeof createTenants>, id: string, key: Key): Promise<Store> {
  const { store } = tenants.of(id)
  await store.set(key, 'mine')
  await store.append([...key, 'log'], 'mine')
  await store.take(key, bucket)
  return store
}
const stateOf = async (store: Store, key: Key): Promise<unknown> => [
  await store.get(key),
  await store.list([], { limit: 100 }),
  (await store.take(key, bucket)) > 0,
]
const make = () => {
  const clock = fakeClock()
  return createTenants({ store: memoryStore(clock), logger: silentLogger })
}

test('the table has every operation', () => {
  const { store } = make().of('a')
  expect(Object.keys(attempts).sort()).toEqual(Object.keys(store).sort())
})

test.each(Object.keys(attempts))('%s of another tenant finds nothing and changes nothing', async (verb) => {
  const part = fc.oneof(
    fc.constantFrom('a', 'b', 'tenant', 'a:b', 'a","b', '["a"]', '..', '/', '\0', 'once'),
    fc.string(),
  )
  const id = fc.constantFrom('a', 'b', 'a:b', 'tenant', 'a.b', 'A', 'a@b')
  await fc.assert(
    fc.asyncProperty(id, id, fc.array(part, { minLength: 1, maxLength: 4 }), async (mine, other, key) => {
      fc.pre(mine !== other)
      const tenants = make()
      const store = await settled(tenants, mine, key)
      const before = await stateOf(store, key)
      const alone = await attempts[verb]?.(make().of(other).store, key)
      expect(await attempts[verb]?.(tenants.of(other).store, key)).toEqual(alone)
      expect(await stateOf(store, key)).toEqual(before)
    }),
    { numRuns: 200 },
  )
})
