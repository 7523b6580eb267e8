/** The keywords that hold no schema, each as a predicate of a value. */

import canonicalize from 'canonicalize'
import { isObject } from '../core/json.ts'
import { formatOf } from './formats.ts'
import type { countKeywords, Keywords, numberKeywords, Words } from './keywords.ts'
import type { PatternSteps } from './pattern.ts'
import { toPattern } from './pattern.ts'

type Predicate = (value: unknown) => boolean
type Counted = Exclude<Words<typeof countKeywords | typeof numberKeywords>, 'minContains' | 'maxContains'>
type Scalars = Pick<
  Keywords<unknown>,
  Counted | 'type' | 'const' | 'enum' | 'multipleOf' | 'pattern' | 'format' | 'uniqueItems'
>

const number =
  (test: (value: number) => boolean): Predicate =>
  (value) =>
    typeof value !== 'number' || test(value)
const string =
  (test: (value: string) => boolean): Predicate =>
  (value) =>
    typeof value !== 'string' || test(value)
const array =
  (test: (value: readonly unknown[]) => boolean): Predicate =>
  (value) =>
    !Array.isArray(value) || test(value)
/** Counts members. A member that is `undefined` does not survive JSON. */
const size = (value: object): number => Object.values(value).filter((one) => one !== undefined).length

const types: { readonly [name: string]: Predicate } = {
  string: (value) => typeof value === 'string',
  number: (value) => Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isObject,
}

const isPrimitive = (value: unknown): boolean => typeof value !== 'object' || value === null
/** Returns equal keys for equal values: canonical JSON, so that the order of members does not matter. */
const toKey = (value: unknown): string => canonicalize(value) ?? 'undefined'

/** Computes exactly: 19.99 is a multiple of 0.01, though not by floating-point division. */
function isMultiple(value: number, of: number): boolean {
  if (!Number.isFinite(value)) return false
  if (Number.isSafeInteger(value) && Number.isSafeInteger(of)) return value % of === 0
  const [a, b] = [toDecimal(value), toDecimal(of)]
  const exponent = Math.min(a.exponent, b.exponent)
  const scale = (one: Decimal): bigint => one.digits * 10n ** BigInt(one.exponent - exponent)
  return scale(a) % scale(b) === 0n
}
interface Decimal {
  readonly digits: bigint
  readonly exponent: number
}
function toDecimal(value: number): Decimal {
  const [mantissa = '0', exponent = '0'] = String(value).split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length }
}

/** Counts characters instead of code units, no further than needed. */
function hasAtLeast(text: string, count: number): boolean {
  if (text.length < count) return false
  if (text.length >= 2 * count) return true
  let remaining = count
  for (const _ of text) if (--remaining <= 0) return true
  return remaining <= 0
}

const scalars: {
  readonly [K in keyof Scalars]-?: (argument: NonNullable<Scalars[K]>, steps: PatternSteps) => Predicate
} = {
  type: (names) => {
    const [first, ...more] = [names].flat().map((name) => types[name] ?? (() => false))
    return first && more.length === 0 ? first : (value) => [first, ...more].some((is) => is?.(value))
  },
  const: (expected, steps) => scalars.enum([expected], steps),
  enum: (values) => {
    const primitives = new Set(values.filter(isPrimitive))
    const keys = new Set(values.filter((value) => !isPrimitive(value)).map(toKey))
    return (value) => (isPrimitive(value) ? primitives.has(value) : keys.size > 0 && keys.has(toKey(value)))
  },
  multipleOf: (of) => number((value) => isMultiple(value, of)),
  minimum: (min) => number((value) => value >= min),
  maximum: (max) => number((value) => value <= max),
  exclusiveMinimum: (below) => number((value) => value > below),
  exclusiveMaximum: (above) => number((value) => value < above),
  minLength: (min) => string((value) => hasAtLeast(value, min)),
  maxLength: (max) => string((value) => value.length <= max || !hasAtLeast(value, max + 1)),
  pattern: (source, steps) => {
    const pattern = toPattern(source, steps)
    return string((value) => pattern.test(value))
  },
  format: (name) => string(formatOf(name) ?? (() => true)),
  minItems: (min) => array((value) => value.length >= min),
  maxItems: (max) => array((value) => value.length <= max),
  uniqueItems: (isUnique) => array((value) => !isUnique || new Set(value.map(toKey)).size === value.length),
  minProperties: (min) => (value) => !isObject(value) || size(value) >= min,
  maxProperties: (max) => (value) => !isObject(value) || size(value) <= max,
}

/** Returns the predicate of a keyword; `undefined` if the keyword holds schemas. */
export function toPredicate(keyword: string, argument: unknown, steps: PatternSteps): Predicate | undefined {
  if (!Object.hasOwn(scalars, keyword)) return undefined
  const make = scalars[keyword as keyof Scalars] as (argument: unknown, steps: PatternSteps) => Predicate
  return make(argument, steps)
}
