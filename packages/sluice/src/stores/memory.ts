/** The store of a single process: what a library user gets without asking. Gone with the process. */

import type { Clock } from '../core/clock.ts'
import { systemClock } from '../core/clock.ts'
import type { Bucket, Entry, Key, Store } from '../core/store.ts'

interface Slot {
  readonly key: Key
  readonly value: string
  readonly until: number
}
interface Level {
  left: number
  at: number
}

/** How many writes may pass before expired slots are swept: memory must not grow with keys nobody reads again. */
const sweepEvery = 1024

export function memoryStore(clock: Clock = systemClock): Store {
  const slots = new Map<string, Slot>()
  const levels = new Map<string, Level & { readonly bucket: Bucket }>()
  let appended = 0
  let writes = 0
  const live = (name: string): Slot | undefined => {
    const slot = slots.get(name)
    if (slot && slot.until <= clock.now()) {
      slots.delete(name)
      return undefined
    }
    return slot
  }
  const put = (key: Key, value: string, ttlMs = Number.POSITIVE_INFINITY): void => {
    slots.set(nameOf(key), { key, value, until: clock.now() + ttlMs })
    if (++writes % sweepEvery === 0) sweep()
  }
  const sweep = (): void => {
    for (const name of slots.keys()) live(name)
    for (const [name, level] of levels)
      if (refill(level, level.bucket, clock.now()) >= level.bucket.capacity) levels.delete(name)
  }
  return {
    get: async (key) => live(nameOf(key))?.value,
    set: async (key, value, ttlMs) => put(key, value, ttlMs),
    async swap(key, from, to, ttlMs) {
      if (live(nameOf(key))?.value !== from) return false
      put(key, to, ttlMs)
      return true
    },
    async delete(key) {
      slots.delete(nameOf(key))
    },
    async take(key, bucket) {
      const now = clock.now()
      const name = nameOf(key)
      const level = levels.get(name) ?? { left: bucket.capacity, at: now, bucket }
      level.left = refill(level, bucket, now)
      level.at = now
      levels.set(name, level)
      if (++writes % sweepEvery === 0) sweep()
      if (level.left >= 1) {
        level.left -= 1
        return 0
      }
      return Math.ceil(((1 - level.left) / bucket.perSecond) * 1000)
    },
    async append(key, value, ttlMs) {
      const at: Key = [...key, String(++appended).padStart(16, '0')]
      put(at, value, ttlMs)
      return at
    },
    async list(prefix, { limit, after }) {
      const found: Entry[] = []
      for (const name of slots.keys()) {
        const slot = live(name)
        if (slot && isBelow(slot.key, prefix) && (!after || compare(slot.key, after) > 0)) found.push(slot)
      }
      return found
        .sort((a, b) => compare(a.key, b.key))
        .slice(0, limit)
        .map(({ key, value }) => ({ key, value }))
    },
  }
}

const nameOf = (key: Key): string => JSON.stringify(key)
const refill = ({ left, at }: Level, { capacity, perSecond }: Bucket, now: number): number =>
  Math.min(capacity, left + (Math.max(0, now - at) / 1000) * perSecond)
const isBelow = (key: Key, prefix: Key): boolean =>
  key.length > prefix.length && prefix.every((part, i) => key[i] === part)
function compare(a: Key, b: Key): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const [x = '', y = ''] = [a[i], b[i]]
    if (x !== y) return x < y ? -1 : 1
  }
  return a.length - b.length
}
