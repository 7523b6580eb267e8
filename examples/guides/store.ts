/** A custom store: wraps another store and reports the duration of each operation. */

import assert from 'node:assert/strict'
import type { Store } from 'sluice'
import { memoryStore } from 'sluice'

export function timed(store: Store, report: (verb: string, ms: number) => void): Store {
  async function taking<T>(verb: string, answer: Promise<T>): Promise<T> {
    const started = performance.now()
    try {
      return await answer
    } finally {
      report(verb, performance.now() - started)
    }
  }
  return {
    // Whether processes share it, and whether its writes are durable, is up to the wrapped store.
    ...(store.shared && { shared: store.shared }),
    ...(store.checkDurability && { checkDurability: () => store.checkDurability?.() ?? Promise.resolve([]) }),
    get: (key) => taking('get', store.get(key)),
    set: (key, value, ttlMs) => taking('set', store.set(key, value, ttlMs)),
    swap: (key, from, to, ttlMs) => taking('swap', store.swap(key, from, to, ttlMs)),
    delete: (key) => taking('delete', store.delete(key)),
    take: (key, bucket) => taking('take', store.take(key, bucket)),
    append: (key, value, ttlMs) => taking('append', store.append(key, value, ttlMs)),
    list: (prefix, page) => taking('list', store.list(prefix, page)),
  }
}

if (import.meta.main) {
  const reported: string[] = []
  const store = timed(memoryStore(), (verb) => reported.push(verb))
  await store.set(['a'], '1')
  assert.equal(await store.get(['a']), '1')
  assert.deepEqual(reported, ['set', 'get'])
}
