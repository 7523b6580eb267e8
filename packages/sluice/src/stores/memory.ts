/**
 * The store of a single process: what a library user gets without asking. Gone with the process.
 *
 * Its rules are every store's: `encodeKey`, `checked`, `lifeOf`, `sizeOf` and `draw` are shared with SQLite and Redis, so
 * that what passes a test in memory is not refused, or sorted differently, in production.
 */

import type { Clock } from '../core/clock.ts'
import { systemClock } from '../core/clock.ts'
import { RpcError } from '../core/error.ts'
import type { Bucket, Entry, Key, Store } from '../core/store.ts'

interface Slot {
  readonly value: string
  readonly until: number
}

/** How many of what is kept each write looks at: more than it adds, so what expired goes without a pause for all at once. */
const sweepSteps = 2

/** A store in this process’s memory: gone when it ends. */
export function memoryStore(clock: Clock = systemClock): Store {
  const slots = new Map<string, Slot>()
  const levels = new Map<string, { readonly level: Level; readonly until: number }>()
  const names = sortedNames(slots)
  const sweepSlots = sweeper(slots, clock)
  const sweepLevels = sweeper(levels, clock)
  let appended = 0
  const live = (name: string): Slot | undefined => {
    const slot = slots.get(name)
    return slot && slot.until > clock.now() ? slot : undefined
  }
  const put = (name: string, value: string, ttlMs: number | undefined): void => {
    if (!slots.has(name)) names.add(name)
    slots.set(name, { value: checked(value), until: clock.now() + lifeOf(ttlMs) })
    sweepSlots()
  }
  return {
    inProcess: true,
    get: async (key) => live(encodeKey(key))?.value,
    set: async (key, value, ttlMs) => put(encodeKey(key), value, ttlMs),
    async swap(key, from, to, ttlMs) {
      const name = encodeKey(key)
      const value = checked(to)
      if (live(name)?.value !== (from === undefined ? from : checked(from))) return false
      put(name, value, ttlMs)
      return true
    },
    async delete(key) {
      slots.delete(encodeKey(key))
    },
    async take(key, bucket) {
      const name = encodeKey(key)
      const before = levels.get(name)?.level
      const { waitMs, level } = draw(before, bucket, clock.now())
      if (level !== before) levels.set(name, { level, until: fullAt(level, bucket) })
      sweepLevels()
      return waitMs
    },
    async append(key, value, ttlMs) {
      const at: Key = [...key, sequence(++appended)]
      put(encodeKey(at), value, ttlMs)
      return at
    },
    async list(prefix, { limit, after }) {
      const [size, below] = [sizeOf(limit), encodeKey(prefix)]
      const from = after ? encodeKey(after) : below
      const found: Entry[] = []
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
function sweeper(map: Map<string, { readonly until: number }>, clock: Clock): () => void {
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
 * ends before `endOf` it: `list` is a range.
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
export const endOf = (encoded: string): string => `${encoded.slice(0, -1)}\u0002`
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
export const sequence = (n: number): string => String(n).padStart(16, '0')

/** Larger, and a single value could break the connection all others share (Redis ends it at 512 MiB). */
const maxValue = 16 * 1024 * 1024

/** A value that comes back as it was written: half of a surrogate pair would come back as U+FFFD. */
export function checked(value: string): string {
  if (value.length > maxValue) throw new RpcError('payloadTooLarge', 'Too large to be stored')
  if (!value.isWellFormed()) throw new RpcError('invalidParams', 'Text with half of a surrogate pair cannot be stored')
  return value
}

/** How long in whole milliseconds; `Infinity` for ever, 0 or less: over already. */
export function lifeOf(ttlMs: number | undefined): number {
  if (ttlMs === undefined) return Number.POSITIVE_INFINITY
  if (Number.isNaN(ttlMs)) throw new RangeError('ttlMs is not a number')
  return ttlMs > forEver ? Number.POSITIVE_INFINITY : Math.ceil(ttlMs)
}
/** Three thousand years; past it Redis refuses the number. */
const forEver = 1e14

/** How many entries a page has. A negative limit means "all" to SQLite and "all but" to an array. */
export function sizeOf(limit: number): number {
  if (!(limit >= 0)) throw new RangeError('A page needs a limit of 0 or more')
  return Math.floor(Math.min(limit, 2 ** 31 - 1))
}

/** What was left in a bucket, and when. A bucket nobody drew from is full. */
export interface Level {
  readonly left: number
  readonly at: number
}

/**
 * Draws one from a bucket: the level afterwards, and 0 or the milliseconds until there will be one.
 *
 * A refusal leaves the level as it is: a flood of refused calls costs no write, and no rounding adds up.
 */
export function draw(before: Level | undefined, bucket: Bucket, now: number): { waitMs: number; level: Level } {
  const { capacity, perSecond } = bucket
  if (!(capacity >= 1 && capacity < forEver && perSecond > 0 && perSecond < forEver))
    throw new RangeError('A bucket needs a capacity of at least 1 and a rate above 0')
  const { left, at } = before ?? { left: capacity, at: now }
  const filled = Math.min(capacity, left + (Math.max(0, now - at) / 1000) * perSecond)
  if (filled >= enough) return { waitMs: 0, level: { left: filled - 1, at: now } }
  // A clock set back must not starve the bucket until it has caught up.
  const level = before && now >= at ? before : { left, at: now }
  return { waitMs: Math.max(1, Math.ceil(((enough - filled) / perSecond) * 1000)), level }
}
/** Within rounding of one, or whoever waited exactly as long as told would be refused again. */
const enough = 1 - 1e-6
/** From then on the level says nothing and may be forgotten. */
export const fullAt = ({ left, at }: Level, { capacity, perSecond }: Bucket): number =>
  Math.min(at + Math.ceil(((capacity - left) / perSecond) * 1000), forEver)
