/**
 * The store of a single process: what a library user gets without asking. Gone with the process.
 *
 * Its rules are every store's: `encodeKey`, `checkedValue`, `toTtlMs`, `toPageSize` and `takeToken` are shared with SQLite and Redis, so
 * that what passes a test in memory is not refused, or sorted differently, in production.
 */

import type { Clock } from '../core/clock.ts'
import { systemClock } from '../core/clock.ts'
import { RpcError } from '../core/error.ts'
import type { Bucket, Key, Store, StoreEntry } from '../core/store.ts'

interface StoredValue {
  readonly value: string
  readonly until: number
}

/** How many of what is kept each write looks at: more than it adds, so what expired goes without a pause for all at once. */
const sweepSteps = 2

/** A store in this process’s memory: gone when it ends. */
export function memoryStore(clock: Clock = systemClock): Store {
  const slots = new Map<string, StoredValue>()
  const levels = new Map<string, { readonly level: BucketLevel; readonly until: number }>()
  const names = sortedNames(slots)
  const sweepSlots = createSweeper(slots, clock)
  const sweepLevels = createSweeper(levels, clock)
  let appended = 0
  const live = (name: string): StoredValue | undefined => {
    const slot = slots.get(name)
    return slot && slot.until > clock.now() ? slot : undefined
  }
  const put = (name: string, value: string, ttlMs: number | undefined): void => {
    if (!slots.has(name)) names.add(name)
    slots.set(name, { value: checkedValue(value), until: clock.now() + toTtlMs(ttlMs) })
    sweepSlots()
  }
  return {
    inProcess: true,
    get: async (key) => live(encodeKey(key))?.value,
    set: async (key, value, ttlMs) => put(encodeKey(key), value, ttlMs),
    async swap(key, from, to, ttlMs) {
      const name = encodeKey(key)
      const value = checkedValue(to)
      if (live(name)?.value !== (from === undefined ? from : checkedValue(from))) return false
      put(name, value, ttlMs)
      return true
    },
    async delete(key) {
      slots.delete(encodeKey(key))
    },
    async take(key, bucket) {
      const name = encodeKey(key)
      const before = levels.get(name)?.level
      const { waitMs, level } = takeToken(before, bucket, clock.now())
      if (level !== before) levels.set(name, { level, until: fullAt(level, bucket) })
      sweepLevels()
      return waitMs
    },
    async append(key, value, ttlMs) {
      const at: Key = [...key, toSequence(++appended)]
      put(encodeKey(at), value, ttlMs)
      return at
    },
    async list(prefix, { limit, after }) {
      const [size, below] = [toPageSize(limit), encodeKey(prefix)]
      const from = after ? encodeKey(after) : below
      const found: StoreEntry[] = []
      for (const name of names.after(compareEncoded(from, below) > 0 ? from : below)) {
        if (found.length >= size || !name.startsWith(below)) break
        const slot = live(name)
        if (slot) found.push({ key: decodeKey(name), value: slot.value })
      }
      return found
    },
  }
}

/** Goes round the map, a few steps a call. */
function createSweeper(map: Map<string, { readonly until: number }>, clock: Clock): () => void {
  let round = map.entries()
  return () => {
    for (let step = 0; step < sweepSteps; step++) {
      const { value, done } = round.next()
      if (done) round = map.entries()
      else if (value[1].until <= clock.now()) map.delete(value[0])
    }
  }
}

/** The names of a map in order, kept only for those who list: without it each page would look at every tenant's keys. */
function sortedNames(map: ReadonlyMap<string, unknown>) {
  let sorted: string[] | undefined
  let fresh: string[] = []
  return {
    add(name: string): void {
      if (!sorted) return
      fresh.push(name)
      // Names of what is long gone would pile up where nobody lists any more.
      if (sorted.length + fresh.length > 2 * map.size + 1024) {
        sorted = undefined
        fresh = []
      }
    },
    *after(from: string): Generator<string> {
      if (!sorted) sorted = [...map.keys()].sort(compareEncoded)
      else if (fresh.length > 64) sorted = [...sorted, ...fresh.sort(compareEncoded)].sort(compareEncoded)
      else for (const name of fresh) sorted.splice(firstAfter(sorted, name), 0, name)
      fresh = []
      // One that was deleted and set again is there twice.
      for (let i = firstAfter(sorted, from), last = from; i < sorted.length; i++) {
        const name = sorted[i] ?? ''
        if (name !== last) yield name
        last = name
      }
    },
  }
}
function firstAfter(sorted: readonly string[], name: string): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareEncoded(sorted[middle] ?? '', name) > 0) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * A key as one text that sorts, by code point or by UTF-8 byte, as its parts do one after the other, a key before
 * whatever lies below it. U+0001 stands before the first part and after every part; U+0000, U+0001 and U+0002 inside a
 * part become U+0002 and U+0002, U+0003 or U+0004, so that no part can end itself. What lies below a prefix begins with its text, and
 * ends before `endOfPrefix` it: `list` is a range.
 */
export function encodeKey(key: Key): string {
  let text = '\u0001'
  for (const part of key) text += `${special.test(part) ? part.replace(specials, escape) : part}\u0001`
  // Half of a surrogate pair has no UTF-8: two keys would both be stored under U+FFFD.
  if (!text.isWellFormed()) throw new RpcError('invalidParams', 'A name with half of a surrogate pair cannot be stored')
  return text
}
export const decodeKey = (text: string): Key =>
  text
    .split('\u0001')
    .slice(1, -1)
    .map((part) => part.replace(escaped, (pair) => String.fromCharCode(pair.charCodeAt(1) - 2)))
/** The first text after everything below a prefix. */
export const endOfPrefix = (encoded: string): string => `${encoded.slice(0, -1)}\u0002`
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the three that are special
const special = /[\u0000-\u0002]/
const specials = new RegExp(special, 'g')
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const escaped = /\u0002[\u0002-\u0004]/g
const escape = (char: string): string => `\u0002${String.fromCharCode(char.charCodeAt(0) + 2)}`

/** By code point, as SQLite and Redis do: `<` compares halves of surrogate pairs, and puts an emoji before U+FFFD. */
export function compareEncoded(a: string, b: string): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x !== y) return isSurrogate(x) === isSurrogate(y) ? x - y : isSurrogate(x) ? 1 : -1
  }
  return a.length - b.length
}
const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff

/** The same width for all, so that text sorts as numbers do. */
export const toSequence = (n: number): string => String(n).padStart(16, '0')

/** Larger, and a single value could break the connection all others share (Redis ends it at 512 MiB). */
const maxValueLength = 16 * 1024 * 1024

/** A value that comes back as it was written: half of a surrogate pair would come back as U+FFFD. */
export function checkedValue(value: string): string {
  if (value.length > maxValueLength) throw new RpcError('payloadTooLarge', 'Too large to be stored')
  if (!value.isWellFormed()) throw new RpcError('invalidParams', 'Text with half of a surrogate pair cannot be stored')
  return value
}

/** How long in whole milliseconds; `Infinity` for ever, 0 or less: over already. */
export function toTtlMs(ttlMs: number | undefined): number {
  if (ttlMs === undefined) return Number.POSITIVE_INFINITY
  if (Number.isNaN(ttlMs)) throw new RangeError('ttlMs is not a number')
  return ttlMs > maxTtlMs ? Number.POSITIVE_INFINITY : Math.ceil(ttlMs)
}
/** Three thousand years; past it Redis refuses the number. */
const maxTtlMs = 1e14

/** How many entries a page has. A negative limit means "all" to SQLite and "all but" to an array. */
export function toPageSize(limit: number): number {
  if (!(limit >= 0)) throw new RangeError('A page needs a limit of 0 or more')
  return Math.floor(Math.min(limit, 2 ** 31 - 1))
}

/** What was left in a bucket, and when. A bucket nobody drew from is full. */
export interface BucketLevel {
  readonly tokens: number
  readonly updatedAt: number
}

/**
 * Draws one from a bucket: the level afterwards, and 0 or the milliseconds until there will be one.
 *
 * A refusal leaves the level as it is: a flood of refused calls costs no write, and no rounding adds up.
 */
export function takeToken(
  before: BucketLevel | undefined,
  bucket: Bucket,
  now: number,
): { waitMs: number; level: BucketLevel } {
  const { burst, perSecond } = bucket
  if (!(burst >= 1 && burst < maxTtlMs && perSecond > 0 && perSecond < maxTtlMs))
    throw new RangeError('A bucket needs a burst of at least 1 and a rate above 0')
  const { tokens, updatedAt } = before ?? { tokens: burst, updatedAt: now }
  const filled = Math.min(burst, tokens + (Math.max(0, now - updatedAt) / 1000) * perSecond)
  if (filled >= oneToken) return { waitMs: 0, level: { tokens: filled - 1, updatedAt: now } }
  // A clock set back must not starve the bucket until it has caught up.
  const level = before && now >= updatedAt ? before : { tokens, updatedAt: now }
  return { waitMs: Math.max(1, Math.ceil(((oneToken - filled) / perSecond) * 1000)), level }
}
/** Within rounding of one, or whoever waited exactly as long as told would be refused again. */
const oneToken = 1 - 1e-6
/** From then on the level says nothing and may be forgotten. */
export const fullAt = ({ tokens, updatedAt }: BucketLevel, { burst, perSecond }: Bucket): number =>
  Math.min(updatedAt + Math.ceil(((burst - tokens) / perSecond) * 1000), maxTtlMs)
