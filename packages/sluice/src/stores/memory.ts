/**
 * The store of a single process, the default for library users. Its data ends with the process.
 *
 * `encodeKey`, `checkedValue`, `toTtlMs`, `toPageSize` and `takeToken` are shared with SQLite and Redis. So a value
 * that passes a test in memory is not refused, or sorted differently, in production.
 */

import type { Clock } from '../core/clock.ts'
import { systemClock } from '../core/clock.ts'
import { RpcError } from '../core/error.ts'
import type { Bucket, Key, Store, StoreEntry } from '../core/store.ts'
import type { SortedNames } from './sorted-names.ts'
import { createSortedNames } from './sorted-names.ts'

interface StoredValue {
  readonly value: string
  readonly until: number
}

/**
 * How many entries each write checks for expiry. More than it adds, so that expired entries go without a long pause.
 */
const sweepSteps = 2

/** Creates a store in the memory of this process. Its data ends with the process. */
export function memoryStore(clock: Clock = systemClock): Store {
  const entries = new Map<string, StoredValue>()
  const buckets = new Map<string, { readonly level: BucketLevel; readonly until: number }>()
  const names = namesOf(entries)
  const remove = (name: string): void => {
    if (entries.delete(name)) names.delete(name)
  }
  const sweepEntries = createSweeper(entries, remove)
  const sweepBuckets = createSweeper(buckets, (name) => buckets.delete(name))
  let appended = 0
  const live = (name: string): StoredValue | undefined => {
    const entry = entries.get(name)
    return entry && entry.until > clock.now() ? entry : undefined
  }
  const put = (name: string, value: string, ttlMs: number | undefined, isNew: boolean, now: number): void => {
    if (isNew) names.add(name)
    entries.set(name, { value, until: now + toTtlMs(ttlMs) })
    sweepEntries(now)
  }
  const set = (key: Key, value: string, ttlMs: number | undefined): void => {
    const name = encodeKey(key)
    put(name, checkedValue(value), ttlMs, !entries.has(name), clock.now())
  }
  return {
    inProcess: true,
    get: async (key) => live(encodeKey(key))?.value,
    set: async (key, value, ttlMs) => set(key, value, ttlMs),
    async swap(key, from, to, ttlMs) {
      const name = encodeKey(key)
      const value = checkedValue(to)
      const now = clock.now()
      const found = entries.get(name)
      if ((found && found.until > now ? found.value : undefined) !== from) {
        // A value that is stored was checked when it was written.
        if (from !== undefined) checkedValue(from)
        return false
      }
      put(name, value, ttlMs, !found, now)
      return true
    },
    async delete(key) {
      remove(encodeKey(key))
    },
    async take(key, bucket) {
      const name = encodeKey(key)
      const before = buckets.get(name)?.level
      const now = clock.now()
      const { waitMs, level } = takeToken(before, bucket, now)
      if (level !== before) buckets.set(name, { level, until: fullAt(level, bucket) })
      sweepBuckets(now)
      return waitMs
    },
    async append(key, value, ttlMs) {
      const at: Key = [...key, toSequence(++appended)]
      set(at, value, ttlMs)
      return at
    },
    async list(prefix, { limit, after }) {
      const [size, { below, from }] = [toPageSize(limit), rangeOf(prefix, after)]
      const found: StoreEntry[] = []
      const expired: string[] = []
      for (const name of names.after(from)) {
        if (found.length >= size || !name.startsWith(below)) break
        const entry = live(name)
        if (entry) found.push({ key: decodeKey(name), value: entry.value })
        else expired.push(name)
      }
      // Otherwise the next page would pass them again.
      for (const name of expired) remove(name)
      return found
    },
  }
}

/** Keeps the names of a map in order once `list` is used, because most stores of a single process are never listed. */
function namesOf(map: ReadonlyMap<string, unknown>): SortedNames {
  // `>` is several times as fast as `compareEncoded`. The order is the same until a name contains a surrogate pair.
  let hasSurrogates = false
  const isAfter = (a: string, b: string): boolean => (hasSurrogates ? compareEncoded(a, b) > 0 : a > b)
  let sorted: SortedNames | undefined
  const add = (name: string): void => {
    hasSurrogates ||= surrogate.test(name)
    sorted?.add(name)
  }
  return {
    add,
    delete: (name) => sorted?.delete(name),
    after(name) {
      hasSurrogates ||= surrogate.test(name)
      if (!sorted) {
        sorted = createSortedNames(isAfter)
        // In order, so that the names are added to a chunk that is still in the processor's cache.
        for (const known of [...map.keys()].sort()) sorted.add(known)
      }
      return sorted.after(name)
    },
  }
}

/** Removes expired entries of the map, a few steps per call. */
function createSweeper(
  map: ReadonlyMap<string, { readonly until: number }>,
  remove: (name: string) => void,
): (now: number) => void {
  let round = map.entries()
  return (now) => {
    for (let step = 0; step < sweepSteps; step++) {
      const { value, done } = round.next()
      if (done) round = map.entries()
      else if (value[1].until <= now) remove(value[0])
    }
  }
}

/**
 * Encodes a key as one text. It sorts, by code point or by UTF-8 byte, like the parts one after the other, with a key
 * before the keys below it. U+0001 is before the first part and after every part. U+0000, U+0001 and U+0002 inside a
 * part become U+0002 and U+0002, U+0003 or U+0004, so that no part can contain its own end. Keys below a prefix begin
 * with its text and sort before the `end` of `rangeOf`, so that `list` is a range.
 */
export function encodeKey(key: Key): string {
  let text = '\u0001'
  for (const part of key) text += `${special.test(part) ? part.replace(specials, escape) : part}\u0001`
  // Half of a surrogate pair has no UTF-8 form, so two such keys would both be stored under U+FFFD.
  if (!text.isWellFormed()) throw new RpcError('invalidParams', 'A name with half of a surrogate pair cannot be stored')
  return text
}
export const decodeKey = (text: string): Key =>
  text
    .split('\u0001')
    .slice(1, -1)
    .map((part) => part.replace(escaped, (pair) => String.fromCharCode(pair.charCodeAt(1) - 2)))
/** Returns the range of a list: the prefix, the text after which its first key is, and the first text after all keys. */
export function rangeOf(prefix: Key, after: Key | undefined): { below: string; from: string; end: string } {
  const below = encodeKey(prefix)
  const start = after ? encodeKey(after) : below
  return { below, from: compareEncoded(start, below) > 0 ? start : below, end: `${below.slice(0, -1)}\u0002` }
}
// biome-ignore lint/suspicious/noControlCharactersInRegex: these three characters are special
const special = /[\u0000-\u0002]/
const specials = /* @__PURE__ */ new RegExp(special, 'g')
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const escaped = /\u0002[\u0002-\u0004]/g
const escape = (char: string): string => `\u0002${String.fromCharCode(char.charCodeAt(0) + 2)}`

/**
 * Compares by code point, like SQLite and Redis. `<` compares halves of surrogate pairs, and puts an emoji before
 * U+FFFD.
 */
export function compareEncoded(a: string, b: string): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x !== y) return isSurrogate(x) === isSurrogate(y) ? x - y : isSurrogate(x) ? 1 : -1
  }
  return a.length - b.length
}
const surrogate = /[\ud800-\udfff]/
const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff

/** Pads a number, so that texts sort like numbers. */
export const toSequence = (n: number): string => String(n).padStart(16, '0')

/** A larger value could break the connection that all calls share (Redis closes it at 512 MiB). */
const maxValueLength = 16 * 1024 * 1024

/** Checks that a value can be read back unchanged. Half of a surrogate pair would be read as U+FFFD. */
export function checkedValue(value: string): string {
  if (value.length > maxValueLength) throw new RpcError('payloadTooLarge', 'The value is too large to be stored')
  if (!value.isWellFormed()) throw new RpcError('invalidParams', 'Text with half of a surrogate pair cannot be stored')
  return value
}

/** Returns a time to live in whole milliseconds. `Infinity` is for ever, 0 or less has already expired. */
export function toTtlMs(ttlMs: number | undefined): number {
  if (ttlMs === undefined) return Number.POSITIVE_INFINITY
  if (Number.isNaN(ttlMs)) throw new RangeError('"ttlMs" is not a number')
  return ttlMs > maxTtlMs ? Number.POSITIVE_INFINITY : Math.ceil(ttlMs)
}
/** Three thousand years. Redis refuses larger numbers. */
const maxTtlMs = 1e14

/** Returns the number of entries of a page. A negative limit would mean "all" to SQLite and "all but" to an array. */
export function toPageSize(limit: number): number {
  if (!(limit >= 0)) throw new RangeError('"limit" must be at least 0')
  return Math.floor(Math.min(limit, 2 ** 31 - 1))
}

/** The tokens in a bucket at a time. A bucket without a level is full. */
export interface BucketLevel {
  readonly tokens: number
  readonly updatedAt: number
}

/**
 * Takes one token from a bucket. Returns the new level, and 0 or the milliseconds until a token is available.
 *
 * A refusal does not change the level, so that a flood of refused calls costs no write, and rounding does not add up.
 */
export function takeToken(
  before: BucketLevel | undefined,
  bucket: Bucket,
  now: number,
): { waitMs: number; level: BucketLevel } {
  const { burst, perSecond } = bucket
  if (!(burst >= 1 && burst < maxTtlMs && perSecond > 0 && perSecond < maxTtlMs))
    throw new RangeError('"burst" must be at least 1 and "perSecond" more than 0')
  const { tokens, updatedAt } = before ?? { tokens: burst, updatedAt: now }
  const filled = Math.min(burst, tokens + (Math.max(0, now - updatedAt) / 1000) * perSecond)
  if (filled >= oneToken) return { waitMs: 0, level: { tokens: filled - 1, updatedAt: now } }
  // Otherwise a clock that was set back would keep the bucket empty until it has caught up.
  const level = before && now >= updatedAt ? before : { tokens, updatedAt: now }
  return { waitMs: Math.max(1, Math.ceil(((oneToken - filled) / perSecond) * 1000)), level }
}
/** One token within rounding. Otherwise a caller that waited exactly as long as told would be refused again. */
const oneToken = 0.999_999
/** Returns when the bucket is full. From then on its level may be deleted. */
export const fullAt = ({ tokens, updatedAt }: BucketLevel, { burst, perSecond }: Bucket): number =>
  Math.min(updatedAt + Math.ceil(((burst - tokens) / perSecond) * 1000), maxTtlMs)
