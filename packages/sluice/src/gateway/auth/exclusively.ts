/** Runs work in one process at a time, by a lock in the store that ends by itself. */

import type { Clock } from '../../core/clock.ts'
import type { Key, Store } from '../../core/store.ts'

const lockMs = 30_000
const pollMs = 100
const maxPolls = lockMs / pollMs

/** Waits for the lock, runs the work and releases the lock. Goes on without it if another process holds it too long. */
export async function exclusively<T>(store: Store, key: Key, clock: Clock, work: () => Promise<T>): Promise<T> {
  const id = crypto.randomUUID()
  for (let polls = 0; polls < maxPolls; polls++) {
    if (await store.swap(key, undefined, id, lockMs)) break
    await new Promise<void>((resolve) => clock.after(pollMs, resolve))
  }
  try {
    return await work()
  } finally {
    if ((await store.get(key)) === id) await store.delete(key)
  }
}
