/**
 * The two accepted drafts: the form of their keywords, and how draft-07 is normalized to 2020-12.
 *
 * A malformed keyword would accept every value (`properties: { a: 'string' }`), and so would a keyword of the other
 * draft. Both are refused. A keyword that no draft has is an annotation.
 */

import { isObject } from '../core/json.ts'
import type { Keywords } from './keywords.ts'
import {
  anchorKeywords,
  countKeywords,
  numberKeywords,
  rejectSchema,
  schemaKeywords,
  schemaListKeywords,
  schemaMapKeywords,
  stringKeywords,
  words,
} from './keywords.ts'
import { patternProblem } from './pattern.ts'

type KeywordCheck = (value: unknown) => boolean
type KeywordShape = readonly [keywords: string, is: KeywordCheck, problem: string]
const isString = (value: unknown): value is string => typeof value === 'string'
const isNames: KeywordCheck = (value) => Array.isArray(value) && value.every(isString)
const isNamesByName: KeywordCheck = (value) => isObject(value) && Object.values(value).every(isNames)
const types: readonly unknown[] = words('string number integer boolean null array object')
const isType: KeywordCheck = (value) => types.includes(value)
const isTypes: KeywordCheck = (value) =>
  isType(value) || (Array.isArray(value) && value.length > 0 && value.every(isType))
const never: KeywordCheck = () => false

/** A check, and the problem of a keyword that fails it. The later entry wins. */
const shared: readonly KeywordShape[] = [
  [`${schemaKeywords} const`, () => true, ''],
  [schemaListKeywords, (value) => Array.isArray(value) && value.length > 0, 'must be a list of schemas'],
  [schemaMapKeywords, isObject, 'must be an object of schemas'],
  [stringKeywords, isString, 'must be a string'],
  [numberKeywords, Number.isFinite, 'must be a number'],
  [countKeywords, (value) => Number.isInteger(value) && Number(value) >= 0, 'must be a whole number, 0 or more'],
  ['multipleOf', (value) => Number.isFinite(value) && Number(value) > 0, 'must be a number above 0'],
  ['type', isTypes, `must be one of ${types.join(', ')}, or a list of them`],
  ['enum', Array.isArray, 'must be a list of values'],
  ['uniqueItems', (value) => typeof value === 'boolean', 'must be true or false'],
  ['required', isNames, 'must be a list of names'],
]

const laterKeywords =
  'prefixItems dependentRequired dependentSchemas unevaluatedItems unevaluatedProperties minContains maxContains $dynamicRef'

export interface Dialect {
  /** The name in Standard JSON Schema. */
  readonly name: 'draft-2020-12' | 'draft-07'
  readonly uri: string
  readonly shapes: ReadonlyMap<string, readonly [is: KeywordCheck, problem: string]>
  /** Returns the keywords normalized to 2020-12. Throws if they contradict the draft. */
  normalize(source: Keywords<unknown>): Keywords<unknown>
  /** Returns the draft's own name of a keyword, for JSON pointers. */
  spelling(keyword: string, source: Keywords<unknown>): string
}

const toShapes = (shapes: readonly KeywordShape[]): Dialect['shapes'] =>
  new Map(
    [...shared, ...shapes].flatMap(([keywords, is, problem]) =>
      words(keywords).map((keyword) => [keyword, [is, problem]]),
    ),
  )

export const draft2020: Dialect = {
  name: 'draft-2020-12',
  uri: 'https://json-schema.org/draft/2020-12/schema',
  shapes: toShapes([
    [anchorKeywords, (value) => isString(value) && /^[A-Za-z_][\w.-]*$/.test(value), 'must be a name without "#"'],
    ['items', (value) => !Array.isArray(value), 'must be one schema; write "prefixItems" for a list'],
    ['dependentRequired', isNamesByName, 'must be an object of lists of names'],
    [
      '$id',
      (value) => isString(value) && !/#./.test(value),
      'must be a URI without a fragment; write that as "$anchor"',
    ],
    ['additionalItems', never, 'belongs to an earlier draft; write "prefixItems", and "items" for the rest'],
    ['dependencies', never, 'belongs to an earlier draft; write "dependentRequired" or "dependentSchemas"'],
    ['$recursiveRef', never, 'belongs to another draft; write "$dynamicRef"'],
  ]),
  normalize: (source) => source,
  spelling: (keyword) => keyword,
}

/** Draft-07's own keywords, in addition to those of both drafts. */
type Draft7 = Keywords<unknown> & {
  readonly additionalItems?: unknown
  readonly dependencies?: Record<string, unknown>
}

const draft7: Dialect = {
  name: 'draft-07',
  uri: 'http://json-schema.org/draft-07/schema',
  shapes: toShapes([
    ['dependencies', isObject, 'must be an object of schemas or lists of names'],
    [
      '$id',
      (value) => isString(value) && /^(?:#[A-Za-z][\w.:-]*|[^#]*#?)$/.test(value),
      'must be a URI, or "#" and a name',
    ],
    [laterKeywords, never, 'belongs to a later draft; declare 2020-12 in "$schema", or use the keywords of draft-07'],
  ]),
  normalize(source: Draft7) {
    // In this draft, keywords beside a `$ref` are ignored.
    if (source.$ref !== undefined) return { $ref: source.$ref }
    const { $id, items, additionalItems, dependencies = {}, $anchor: _a, $dynamicAnchor: _d, ...same } = source
    const dependent = Object.entries(dependencies)
    return {
      ...same,
      ...($id === undefined ? {} : $id.startsWith('#') && $id !== '#' ? { $anchor: $id.slice(1) } : { $id }),
      ...(Array.isArray(items) ? { prefixItems: items } : items === undefined ? {} : { items }),
      ...(Array.isArray(items) && additionalItems !== undefined ? { items: additionalItems } : {}),
      dependentRequired: Object.fromEntries(dependent.filter(([, value]) => isNames(value))) as Record<
        string,
        string[]
      >,
      dependentSchemas: Object.fromEntries(dependent.filter(([, value]) => !isNames(value))),
    }
  },
  spelling(keyword, { items }) {
    if (keyword === 'dependentSchemas') return 'dependencies'
    if (!Array.isArray(items)) return keyword
    return keyword === 'prefixItems' ? 'items' : keyword === 'items' ? 'additionalItems' : keyword
  },
}

const dialects = [draft2020, draft7]
const uris = new Map(dialects.flatMap((dialect) => [dialect.uri, `${dialect.uri}#`].map((uri) => [uri, dialect])))
// Many generators write the URI of draft-07 with https.
uris.set('https://json-schema.org/draft-07/schema#', draft7).set('https://json-schema.org/draft-07/schema', draft7)

export function dialectOf($schema: unknown, at: string): Dialect {
  return (
    uris.get(String($schema)) ??
    rejectSchema(at, `"$schema" must be "${draft2020.uri}" or "${draft7.uri}#"; convert the schema or remove "$schema"`)
  )
}

/** Checks one schema, but not its subschemas. */
export function checkKeywords(schema: unknown, at: string, { shapes }: Dialect): asserts schema is Keywords<unknown> {
  if (!isObject(schema)) rejectSchema(at, 'a schema must be an object, true or false; correct it')
  for (const [keyword, value] of Object.entries(schema)) {
    const [is, problem] = shapes.get(keyword) ?? []
    if (is?.(value) === false) rejectSchema(at, `"${keyword}" ${problem}`)
  }
  const { pattern = '', patternProperties = {} }: Keywords<unknown> = schema
  const problem = [pattern, ...Object.keys(patternProperties)].map(patternProblem).find((found) => found !== undefined)
  if (problem) rejectSchema(at, problem)
}

const bookkeeping = new Set(words(`$defs definitions $id $ref $dynamicRef ${anchorKeywords}`))
/** Returns whether a normalized keyword constrains values. */
export const isRule = (keyword: string): boolean => draft2020.shapes.has(keyword) && !bookkeeping.has(keyword)
