/**
 * Parses text into one JSON value, or refuses it and names the limit. Runs before any other code reads the message.
 *
 * `JSON.parse` alone is not enough. It accepts a million levels of nesting, on which `JSON.stringify` crashes. The last
 * of two equal keys wins, so a check and a tool can read different values. Integers past 2^53 are rounded silently. A
 * megabyte of `{},{},…` parses quickly, but schema libraries make an issue for each value, which takes seconds and a
 * gigabyte.
 */

import { invalidRequest, RpcError } from './error.ts'
import { isObject } from './json.ts'

export interface FrameLimits {
  /** Nesting of arrays and objects. */
  readonly maxDepth: number
  /** Number of values, counted by opening brackets and commas. */
  readonly maxValues: number
}

export const frameLimits: FrameLimits = { maxDepth: 64, maxValues: 10_000 }

const quote = 34
const backslash = 92
const colon = 58
const comma = 44
const openBrace = 123
const openBracket = 91
const closeBrace = 125
const closeBracket = 93
const zero = 48
const nine = 57

/** The facts that one pass over the text finds without building anything. */
interface Scan {
  members: number
  /** Depth of the outermost number that loses digits when parsed; `Infinity` if none does. */
  imprecisionDepth: number
}

function scan(text: string, { maxDepth, maxValues }: FrameLimits): Scan {
  let depth = 0
  let values = 0
  const seen: Scan = { members: 0, imprecisionDepth: Number.POSITIVE_INFINITY }
  const { length } = text
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) {
      // Skips to the closing quote. A quote after an odd number of backslashes is part of the string.
      for (;;) {
        i = text.indexOf('"', i + 1)
        if (i === -1) return seen
        let slashes = 0
        while (text.charCodeAt(i - 1 - slashes) === backslash) slashes++
        if (slashes % 2 === 0) break
      }
    } else if (code === colon) seen.members++
    else if (code === comma) values++
    else if (code === openBrace || code === openBracket) {
      values++
      if (++depth > maxDepth) throw invalidRequest(`nested deeper than ${maxDepth}`)
    } else if (code === closeBrace || code === closeBracket) depth--
    else if (code >= zero && code <= nine) {
      const start = i
      while (isNumberPart(text.charCodeAt(i + 1))) i++
      // A number of fifteen digits never loses any.
      if (i - start >= 15 && depth < seen.imprecisionDepth && losesDigits(text.slice(start, i + 1)))
        seen.imprecisionDepth = depth
    }
    if (values > maxValues) throw invalidRequest(`more than ${maxValues} values`)
  }
  return seen
}

/** Accepts digits, `.`, `e`, `E`, `+` and `-`, which can follow the first digit of a number. */
const isNumberPart = (code: number): boolean =>
  (code >= zero && code <= nine) || code === 46 || code === 101 || code === 69 || code === 43 || code === 45

/**
 * Returns whether the parsed number differs from the written one. Fractions are always rounded, so they pass. An
 * integer must have exactly the digits that were written: `9007199254740993.0` and `9007199254740991.4` do not.
 */
function losesDigits(written: string): boolean {
  const value = Number(written)
  if (/^\d+$/.test(written)) return !Number.isSafeInteger(value)
  if (!Number.isInteger(value) || value === 0) return false
  // No double needs so many digits, and stripping zeros from a megabyte of them would take minutes.
  if (written.length > 100) return true
  const digits = digitsOf(written)
  return digits !== digitsOf(value.toPrecision(digits.length))
}
/** Returns the significant digits, without the point, the exponent and zeros at either end. */
const digitsOf = (text: string): string => text.replace(/e.*|\./gi, '').replace(/^0+|0+$/g, '')

/** Counts members as `scan` counts colons. A difference means that a key occurs twice. */
function countMembers(value: unknown, checks: ValueChecks): number {
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'string') {
      if (checks.surrogates && !value.isWellFormed()) checks.problem ??= 'a string holds half of a surrogate pair'
    } else if (typeof value === 'number' && !Number.isFinite(value)) checks.problem ??= 'a number is out of range'
    return 0
  }
  let members = 0
  if (Array.isArray(value)) {
    for (const item of value) members += countMembers(item, checks)
    return members
  }
  if (isObject(value))
    for (const key in value) {
      members += 1 + countMembers(value[key], checks)
      if (key === '__proto__') checks.problem ??= 'a member is named __proto__'
      else if (checks.surrogates && !key.isWellFormed()) checks.problem ??= 'a name holds half of a surrogate pair'
    }
  return members
}
interface ValueChecks {
  /** Whether the text has `\u` escapes. Half of a surrogate pair can occur in no other way. */
  readonly surrogates: boolean
  problem: string | undefined
}

/**
 * Returns the length of the shortest JSON text for this value, or `NaN` for values that `checkValue` must judge.
 *
 * A text of exactly this length has no spaces, escapes or lost digits. It names no member twice either, because it would
 * be shorter without the first. Most messages are such texts, and need no scan.
 */
function shortestLength(value: unknown, depth: number): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value === 'number') return integerLength(value)
  if (value === null || value === true) return 4
  if (value === false) return 5
  if (depth === 0) return Number.NaN
  // A comma or the closing bracket follows each item, so only an empty list has a bracket more.
  let length = 1
  if (Array.isArray(value)) for (const item of value) length += shortestLength(item, depth - 1) + 1
  else if (isObject(value))
    for (const key in value) {
      if (key === '__proto__') return Number.NaN
      length += key.length + shortestLength(value[key], depth - 1) + 4
    }
  return length === 1 ? 2 : length
}

/** `NaN` for a fraction, and for an integer that is shorter with an exponent, such as `1e3`. */
function integerLength(value: number): number {
  if (!Number.isSafeInteger(value) || (value % 1000 === 0 && value !== 0)) return Number.NaN
  let length = value < 0 ? 2 : 1
  for (let bound = 10; Math.abs(value) >= bound; bound *= 10) length++
  return length
}

/** Parses one message. Throws an `RpcError` and nothing else. */
export function frame(text: string, limits: FrameLimits = frameLimits): unknown {
  // A longer text may have too many values, and is not parsed before they are counted.
  const seen = text.length > limits.maxValues ? scan(text, limits) : undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    // Text that is nested too deeply is refused for that, also if it never ends.
    if (!seen) scan(text, limits)
    throw new RpcError('parseError', 'Parse error: the message is not valid JSON', { cause })
  }
  if (seen || shortestLength(value, limits.maxDepth) !== text.length)
    checkValue(value, seen ?? scan(text, limits), text)
  return value
}

function checkValue(value: unknown, seen: Scan, text: string): void {
  const checks: ValueChecks = { surrogates: text.includes('\\u'), problem: undefined }
  const members = countMembers(value, checks)
  if (members !== seen.members)
    throw new UnsafeMessage('an object names a member twice', withoutId(value), 'invalidRequest')
  const { imprecisionDepth } = seen
  // At depth 1 only the id is a number, and an answer must not go to another id.
  if (imprecisionDepth === 1 || (checks.problem !== undefined && hasUnsafeId(value)))
    throw new UnsafeMessage('id must be a string or an integer within ±(2^53 − 1)', withoutId(value), 'invalidRequest')
  if (Number.isFinite(imprecisionDepth))
    checks.problem ??= 'a number has more digits than a double can hold: send it as a string'
  if (checks.problem !== undefined) throw new UnsafeMessage(checks.problem, value)
}

const hasUnsafeId = (value: unknown): boolean =>
  isObject(value) && typeof value['id'] === 'number' && !Number.isSafeInteger(value['id'])

/**
 * Replaces the id, because it is not what the client wrote. The kind must stay readable, because a response is never
 * answered.
 */
const withoutId = (value: unknown): unknown => (isObject(value) && 'id' in value ? { ...value, id: null } : value)

/** A message that parses but holds an unsafe value. The answer still has its id, if the id can be read. */
export class UnsafeMessage extends RpcError {
  readonly value: unknown
  constructor(problem: string, value: unknown, reason: 'invalidParams' | 'invalidRequest' = 'invalidParams') {
    super(reason, `Invalid ${reason === 'invalidParams' ? 'params' : 'request'}: ${problem}`)
    this.value = value
  }
}
