/**
 * The keywords of JSON Schema 2020-12, and what their values must look like.
 *
 * TypeBox skips a keyword it cannot read, so `properties: { a: 'string' }` would let everything pass. Here it is
 * refused, and past `checkKeywords` the keywords have types. Whatever no table lists is the author's note.
 */

import { isObject } from '../core/json.ts'
import { faultIn } from './patterns.ts'

export const dialect = { name: 'draft-2020-12', uri: 'https://json-schema.org/draft/2020-12/schema' } as const

const one = 'not if then else additionalProperties propertyNames items contains unevaluatedProperties unevaluatedItems'
const list = 'allOf anyOf oneOf prefixItems'
const named = 'properties patternProperties dependentSchemas $defs definitions'
const texts = '$ref $dynamicRef format pattern'
const anchors = '$anchor $dynamicAnchor'
const numbers = 'minimum maximum exclusiveMinimum exclusiveMaximum'
const counts = 'minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties'

const words = (text: string): readonly string[] => text.split(' ')
type Words<T extends string> = T extends `${infer Word} ${infer Rest}` ? Word | Words<Rest> : T
type Named<T> = { readonly [name: string]: T }

/** Keywords that were checked, with `S` for the schemas they hold: as they came, linked, or made into tests. */
export type Keywords<S> = { readonly [K in Words<typeof one>]?: S } & {
  readonly [K in Words<typeof list>]?: readonly S[]
} & { readonly [K in Words<typeof named>]?: Named<S> } & {
  readonly [K in Words<typeof texts | typeof anchors> | '$id']?: string
} & { readonly [K in Words<typeof counts>]?: number } & {
  readonly required?: readonly string[]
  readonly dependentRequired?: Named<readonly string[]>
}
export type Schema = boolean | Node
interface Node extends Keywords<Schema> {}

type Is = (value: unknown) => boolean
const isString = (value: unknown): value is string => typeof value === 'string'
const isDialect: Is = (value) => value === dialect.uri || value === `${dialect.uri}#`
const isNames: Is = (value) => Array.isArray(value) && value.every(isString)
const isNamesByName: Is = (value) => isObject(value) && Object.values(value).every(isNames)
const types: readonly unknown[] = words('string number integer boolean null array object')
const isType: Is = (value) => types.includes(value)
const isTypes: Is = (value) => isType(value) || (Array.isArray(value) && value.length > 0 && value.every(isType))

/** A test, and what to say of a keyword that does not meet it. The later entry counts. */
const shapes: readonly (readonly [keywords: string, Is, problem: string])[] = [
  [`${one} const`, () => true, ''],
  [list, (value) => Array.isArray(value) && value.length > 0, 'must be a list of schemas'],
  [named, isObject, 'must be an object of schemas'],
  [texts, isString, 'must be a string'],
  [anchors, (value) => isString(value) && /^[A-Za-z_][\w.-]*$/.test(value), 'must be a name without "#"'],
  [numbers, Number.isFinite, 'must be a number'],
  [counts, (value) => Number.isInteger(value) && Number(value) >= 0, 'must be a whole number, 0 or more'],
  ['multipleOf', (value) => Number.isFinite(value) && Number(value) > 0, 'must be a number above 0'],
  ['items', (value) => !Array.isArray(value), 'must be one schema; write "prefixItems" for a list'],
  ['type', isTypes, `must be one of ${types.join(', ')}, or a list of them`],
  ['enum', Array.isArray, 'must be a list of values'],
  ['uniqueItems', (value) => typeof value === 'boolean', 'must be true or false'],
  ['required', isNames, 'must be a list of names'],
  ['dependentRequired', isNamesByName, 'must be an object of lists of names'],
  ['$id', (value) => isString(value) && !/#./.test(value), 'must be a URI without a fragment; write that as "$anchor"'],
  ['$schema', isDialect, `must be "${dialect.uri}"; convert the schema or remove "$schema"`],
  // 2020-12 ignores these: a rule its author believes in would not be there.
  ['additionalItems', () => false, 'is of an earlier draft; write "prefixItems", and "items" for the rest'],
  ['dependencies', () => false, 'is of an earlier draft; write "dependentRequired" or "dependentSchemas"'],
  ['$recursiveRef', () => false, 'is of an earlier draft; write "$dynamicRef"'],
]
const shapeOf = new Map(shapes.flatMap(([keywords, ...shape]) => words(keywords).map((keyword) => [keyword, shape])))

const bookkeeping = new Set(words(`$defs definitions $id $schema $ref $dynamicRef ${anchors}`))
/** Whether a keyword by itself says something about values. */
export const isRule = (keyword: string): boolean => shapeOf.has(keyword) && !bookkeeping.has(keyword)
/** Keywords that look at the same value again. */
export const inPlace: ReadonlySet<string> = new Set(words('allOf anyOf oneOf not if then else dependentSchemas'))

export function refuse(at: string, problem: string): never {
  throw new TypeError(`JSON Schema at ${at}: ${problem}`)
}

/** Of this schema alone: those it holds are for whoever visits them. */
export function checkKeywords(schema: unknown, at: string): asserts schema is Keywords<unknown> {
  if (!isObject(schema)) refuse(at, 'a schema must be an object, true or false; correct it')
  for (const [keyword, value] of Object.entries(schema)) {
    const [is, problem] = shapeOf.get(keyword) ?? []
    if (is?.(value) === false) refuse(at, `"${keyword}" ${problem}`)
  }
  const { pattern = '', patternProperties = {} }: Keywords<unknown> = schema
  const fault = [pattern, ...Object.keys(patternProperties)].map(faultIn).find((one) => one !== undefined)
  if (fault) refuse(at, fault)
}

const [ones, lists, nameds] = [new Set(words(one)), new Set(words(list)), new Set(words(named))]
export const toStep = (name: string): string => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`

/** The same keywords, with what `visit` makes of each schema in its place. `path` is a JSON pointer from here. */
export function mapSchemas<S, T>(
  keywords: Keywords<S>,
  visit: (schema: S, path: string, keyword: string) => T,
): Keywords<T> {
  const map = (keyword: string, value: unknown): unknown => {
    const on = (schema: S, ...path: string[]): T => visit(schema, [keyword, ...path].map(toStep).join(''), keyword)
    if (ones.has(keyword)) return on(value as S)
    if (lists.has(keyword)) return (value as S[]).map((schema, index) => on(schema, String(index)))
    if (!nameds.has(keyword)) return value
    return Object.fromEntries(Object.entries(value as Named<S>).map(([name, schema]) => [name, on(schema, name)]))
  }
  return Object.fromEntries(Object.entries(keywords).map(([keyword, value]) => [keyword, map(keyword, value)]))
}
