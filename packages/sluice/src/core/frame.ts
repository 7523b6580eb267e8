/**
 * Text in, one JSON value out, or a refusal that names the limit. Runs before anything looks at the message.
 *
 * `JSON.parse` alone accepts a million levels of nesting (and `JSON.stringify` of that crashes), lets the last of two
 * equal keys win, so that a gate and a tool can read different values, and rounds integers past 2^53 in silence. A
 * megabyte of `{},{},…` parses in no time, but schema libraries make an issue for each: seconds, and a gigabyte.
 */

import { RpcError } from './error.ts'
import { isObject } from './json.ts'

export interface FrameLimits {
  /** Nesting of arrays and objects. */
  readonly maxDepth: number
  /** Values, counted by the brackets that open and the commas between them. */
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

/** What one pass over the text can tell without building anything. */
interface Scan {
  members: number
  /** How deep the outermost number lies that does not survive parsing; `Infinity` if all do. */
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
      // To the closing quote; one that follows an odd number of backslashes is part of the string.
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
      if (++depth > maxDepth) throw new RpcError('invalidRequest', `Invalid request: nested deeper than ${maxDepth}`)
    } else if (code === closeBrace || code === closeBracket) depth--
    else if (code >= zero && code <= nine) {
      const start = i
      while (isNumberPart(text.charCodeAt(i + 1))) i++
      // Fifteen digits always survive.
      if (i - start >= 15 && depth < seen.imprecisionDepth && losesDigits(text.slice(start, i + 1)))
        seen.imprecisionDepth = depth
    }
    if (values > maxValues) throw new RpcError('invalidRequest', `Invalid request: more than ${maxValues} values`)
  }
  return seen
}

/** Digits, `.`, `e`, `E`, `+`, `-`: what can follow the first digit of a number. */
const isNumberPart = (code: number): boolean =>
  (code >= zero && code <= nine) || code === 46 || code === 101 || code === 69 || code === 43 || code === 45

/**
 * Whether another number was sent than the one that is read. Fractions are rounded by nature; where an integer is read,
 * its digits must be those that were written: `9007199254740993.0` and `9007199254740991.4` are not.
 */
function losesDigits(written: string): boolean {
  const value = Number(written)
  if (/^\d+$/.test(written)) return !Number.isSafeInteger(value)
  if (!Number.isInteger(value) || value === 0) return false
  // No double needs so many; and taking zeros off a megabyte of them would take minutes.
  if (written.length > 100) return true
  const digits = digitsOf(written)
  return digits !== digitsOf(value.toPrecision(digits.length))
}
/** The digits that count, without the point, the exponent and zeros at either end. */
const digitsOf = (text: string): string => text.replace(/e.*|\./gi, '').replace(/^0+|0+$/g, '')

/** Counts members the way `scan` counts colons: a difference means that a key came twice. */
function countMembers(value: unknown, vet: ValueChecks): number {
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'string') {
      if (vet.surrogates && !value.isWellFormed()) vet.problem ??= 'a string holds half of a surrogate pair'
    } else if (typeof value === 'number' && !Number.isFinite(value)) vet.problem ??= 'a number is out of range'
    return 0
  }
  let members = 0
  if (Array.isArray(value)) {
    for (const item of value) members += countMembers(item, vet)
    return members
  }
  if (isObject(value))
    for (const key in value) {
      members += 1 + countMembers(value[key], vet)
      if (key === '__proto__') vet.problem ??= 'a member is named __proto__'
      else if (vet.surrogates && !key.isWellFormed()) vet.problem ??= 'a name holds half of a surrogate pair'
    }
  return members
}
interface ValueChecks {
  /** Whether the text has escapes at all: half a surrogate pair can come no other way. */
  readonly surrogates: boolean
  problem: string | undefined
}

/** Parses one message. Throws an `RpcError` and nothing else. */
export function frame(text: string, limits: FrameLimits = frameLimits): unknown {
  const seen = scan(text, limits)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new RpcError('parseError', 'Parse error: the message is not valid JSON', { cause })
  }
  const vet: ValueChecks = { surrogates: text.includes('\\u'), problem: undefined }
  const members = countMembers(value, vet)
  if (members !== seen.members)
    throw new UnsafeMessage('an object names a member twice', withoutId(value), 'invalidRequest')
  const { imprecisionDepth: lost } = seen
  // Directly inside the message only the id is a number, and an answer must not go to another id.
  if (lost === 1 || (vet.problem !== undefined && hasUnsafeId(value)))
    throw new UnsafeMessage('id must be a string or an integer within ±(2^53 − 1)', withoutId(value), 'invalidRequest')
  if (Number.isFinite(lost)) vet.problem ??= 'a number has more digits than a double can hold: send it as a string'
  if (vet.problem !== undefined) throw new UnsafeMessage(vet.problem, value)
  return value
}

const hasUnsafeId = (value: unknown): boolean =>
  isObject(value) && typeof value['id'] === 'number' && !Number.isSafeInteger(value['id'])

/** Its kind can still be told, since a response is never answered; its id is not what the client wrote. */
const withoutId = (value: unknown): unknown => (isObject(value) && 'id' in value ? { ...value, id: null } : value)

/** A message that parses, but holds a value nobody should act on. It still has an id to answer to, if that can be read. */
export class UnsafeMessage extends RpcError {
  readonly value: unknown
  constructor(problem: string, value: unknown, reason: 'invalidParams' | 'invalidRequest' = 'invalidParams') {
    super(reason, `Invalid ${reason === 'invalidParams' ? 'params' : 'request'}: ${problem}`)
    this.value = value
  }
}
