/**
 * Text in, one JSON value out, or a refusal that names the limit. Runs before anything looks at the message.
 *
 * `JSON.parse` alone accepts a million levels of nesting (and `JSON.stringify` of that crashes), lets the last of two
 * equal keys win, so that a gate and a tool can read different values, and rounds integers past 2^53 in silence.
 */

import { RpcError } from './error.ts'
import { isObject } from './json.ts'

export interface FrameLimits {
  /** Nesting of arrays and objects. */
  readonly maxDepth: number
}

export const frameLimits: FrameLimits = { maxDepth: 64 }

const quote = 34
const backslash = 92
const colon = 58
const openBrace = 123
const openBracket = 91
const closeBrace = 125
const closeBracket = 93
const zero = 48
const nine = 57

/** What one pass over the text can tell without building anything. */
interface Scan {
  members: number
  unsafeInteger: boolean
}

function scan(text: string, maxDepth: number): Scan {
  let depth = 0
  let members = 0
  let unsafeInteger = false
  const { length } = text
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) {
      // To the closing quote; one that follows an odd number of backslashes is part of the string.
      for (;;) {
        i = text.indexOf('"', i + 1)
        if (i === -1) return { members, unsafeInteger }
        let slashes = 0
        while (text.charCodeAt(i - 1 - slashes) === backslash) slashes++
        if (slashes % 2 === 0) break
      }
    } else if (code === colon) members++
    else if (code === openBrace || code === openBracket) {
      if (++depth > maxDepth) throw new RpcError('invalidRequest', `Invalid request: nested deeper than ${maxDepth}`)
    } else if (code === closeBrace || code === closeBracket) depth--
    else if (code >= zero && code <= nine) {
      const start = i
      while (isNumberPart(text.charCodeAt(i + 1))) i++
      // Fifteen digits always fit; past that only a plain integer can lose digits without anyone noticing.
      if (i - start >= 15 && !unsafeInteger) unsafeInteger = isUnsafe(text.slice(start, i + 1))
    }
  }
  return { members, unsafeInteger }
}

/** Digits, `.`, `e`, `E`, `+`, `-`: what can follow the first digit of a number. */
const isNumberPart = (code: number): boolean =>
  (code >= zero && code <= nine) || code === 46 || code === 101 || code === 69 || code === 43 || code === 45

const isUnsafe = (digits: string): boolean => {
  const value = Number(digits)
  return digits.indexOf('.') === -1 && digits.search(/e/i) === -1 && !Number.isSafeInteger(value)
}

/** Counts members the way `scan` counts colons: a difference means that a key came twice. */
function countMembers(value: unknown, vet: Vet): number {
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'string') {
      if (vet.surrogates && !value.isWellFormed()) vet.found ??= 'a string holds half of a surrogate pair'
    } else if (typeof value === 'number' && !Number.isFinite(value)) vet.found ??= 'a number is out of range'
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
      if (key === '__proto__') vet.found ??= 'a member is named __proto__'
      else if (vet.surrogates && !key.isWellFormed()) vet.found ??= 'a name holds half of a surrogate pair'
    }
  return members
}
interface Vet {
  /** Whether the text has escapes at all: half a surrogate pair can come no other way. */
  readonly surrogates: boolean
  found: string | undefined
}

/** Parses one message. Throws an `RpcError` and nothing else. */
export function frame(text: string, { maxDepth }: FrameLimits = frameLimits): unknown {
  const seen = scan(text, maxDepth)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new RpcError('parseError', 'Parse error: the message is not valid JSON', { cause })
  }
  const vet: Vet = { surrogates: text.includes('\\u'), found: undefined }
  const members = countMembers(value, vet)
  if (members !== seen.members) throw new RpcError('invalidRequest', 'Invalid request: an object names a member twice')
  if ((seen.unsafeInteger || vet.found !== undefined) && hasUnsafeId(value))
    throw new RpcError('invalidRequest', 'Invalid request: id must be a string or an integer within ±(2^53 − 1)')
  if (seen.unsafeInteger) vet.found ??= 'an integer is past ±(2^53 − 1), where digits are lost: send it as a string'
  if (vet.found !== undefined) throw new Unsound(vet.found, value)
  return value
}

const hasUnsafeId = (value: unknown): boolean =>
  isObject(value) && typeof value['id'] === 'number' && !Number.isSafeInteger(value['id'])

/** A message that parses, but holds a value nobody should act on. It still has an id to answer to. */
export class Unsound extends RpcError {
  readonly value: unknown
  constructor(problem: string, value: unknown) {
    super('invalidParams', `Invalid params: ${problem}`)
    this.value = value
  }
}
