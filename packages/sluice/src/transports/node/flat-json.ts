/**
 * Formats a log line as JSON in two thirds of the time of `JSON.stringify`. Lines are flat, and nearly all their texts
 * (names of fields, tools, callers, outcomes) repeat, so each is quoted once.
 */

import type { LogLine } from '../../core/log.ts'

/** Above this number the oldest half is forgotten, because callers choose some of the texts. */
const maxCached = 2_000
/** Longer texts do not repeat. Trace and span ids do not either, and would evict everything else. */
const maxLength = 64
const traceIdLength = 32
const spanIdLength = 16

function memoize(make: (text: string) => string): (text: string) => string {
  let fresh = new Map<string, string>()
  let old = fresh
  return function memoized(text) {
    const { length } = text
    if (length > maxLength || length === traceIdLength || length === spanIdLength) return make(text)
    const found = fresh.get(text)
    if (found !== undefined) return found
    if (fresh.size >= maxCached) {
      old = fresh
      fresh = new Map()
    }
    const made = old.get(text) ?? make(text)
    fresh.set(text, made)
    return made
  }
}

const quote = memoize((text) => JSON.stringify(text))
const quoteName = memoize((name) => `,${JSON.stringify(name)}:`)

/** Returns the members of a line without the braces, with a comma before each. */
export function stringifyMembers(line: LogLine): string {
  let text = ''
  for (const name in line) {
    const value = line[name]
    if (typeof value === 'string') text += quoteName(name) + quote(value)
    // `JSON.stringify` handles all other values, and numbers that JSON does not have.
    else if (typeof value === 'number' && Number.isFinite(value)) text += quoteName(name) + (value === 0 ? 0 : value)
    else if (value !== undefined) text += `${quoteName(name)}${JSON.stringify(value) ?? 'null'}`
  }
  return text
}
