/** Keys that are easily confused, the same on every run, and the order in which a list must return them. */

import type { Key } from '../core/store.ts'

/** Texts that have broken the separators, quoting, patterns, prefixes, escapes and encodings of stores. */
const strangeParts = [
  ...['', 'a', 'b', 'ab', 'A', '0', '00', ' ', '\n', '\r\n', ':', 'a:b', '/', '..', '%', '_', '*', '?', '[a]', '{a}'],
  ...['"', '","', "'", '\\', '\\u0000', '\0', '\u0001', '\u0002', '\u0003', '\u0004', '\u0002\u0002', '\x7f', '\x80'],
  ...['é', 'e\u0301', '\u212a', '\ud7ff', '\ue000', '\ufffd', '\uffff', '\u{10000}', '\u{1f600}', '\u{10ffff}'],
  ...['__proto__', 'constructor', 'null', 'undefined', 'index', 'v:a'],
]

/**
 * Returns different keys of up to four parts, each of up to two strange texts. The seed is in the test's name, so that
 * a failure can be repeated.
 */
export function strangeKeys(seed: number, count: number): readonly Key[] {
  const below = random(seed)
  const piece = (): string => strangeParts[below(strangeParts.length)] ?? ''
  const keys = new Map<string, Key>([
    ['[]', []],
    ...strangeParts.map((part): [string, Key] => [JSON.stringify([part]), [part]]),
  ])
  while (keys.size < count) {
    const key = Array.from({ length: 1 + below(4) }, () => (below(3) === 0 ? piece() + piece() : piece()))
    keys.set(JSON.stringify(key), key)
  }
  return [...keys.values()]
}

/** Returns mulberry32, a random number generator. `below(n)` is a whole number from 0 to n − 1. */
export function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** Compares part by part, by code point. A key sorts before the keys below it. */
export function compareKeys(a: Key, b: Key): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const [x, y] = [[...(a[i] ?? '')], [...(b[i] ?? '')]]
    for (let j = 0; j < x.length && j < y.length; j++) {
      const difference = (x[j]?.codePointAt(0) ?? 0) - (y[j]?.codePointAt(0) ?? 0)
      if (difference !== 0) return difference
    }
    if (x.length !== y.length) return x.length - y.length
  }
  return a.length - b.length
}

export const isBelow = (key: Key, prefix: Key): boolean =>
  key.length > prefix.length && prefix.every((part, i) => key[i] === part)
