/**
 * A log line as JSON, in two thirds of the time `JSON.stringify` takes: lines are flat, and nearly everything in them
 * (names of fields, tools, callers, outcomes) was in the line before, so it is quoted once.
 */

import type { LogLine } from '../../core/log.ts'

/** Past this many the oldest half is forgotten: callers choose some of the texts. */
const maxCached = 2_000
/** Longer ones do not come again; nor do trace and span ids, which would push everything else out. */
const maxLength = 64
const traceIdLength = 32
const spanIdLength = 16

function memoize(make: (text: string) => string): (text: string) => string {
  let fresh = new Map<string, string>()
  let old = fresh
  return function kept(text) {
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

/** Its members without the braces, a comma before each. */
export function stringifyMembers(line: LogLine): string {
  let text = ''
  for (const name in line) {
    const value = line[name]
    if (typeof value === 'string') text += quoteName(name) + quote(value)
    // Numbers that JSON does not have, and whatever is no field of a line, are left to those who know.
    else if (typeof value === 'number' && Number.isFinite(value)) text += quoteName(name) + (value === 0 ? 0 : value)
    else if (value !== undefined) text += `${quoteName(name)}${JSON.stringify(value) ?? 'null'}`
  }
  return text
}
