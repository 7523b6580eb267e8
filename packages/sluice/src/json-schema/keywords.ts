/**
 * The keywords of JSON Schema 2020-12, and the schemas they hold. After `dialects.ts` every document uses these,
 * whatever its draft.
 */

/** Keywords by the kind of their value, as space-separated names: a schema, a list of schemas, schemas by name, … */
export const schemaKeywords =
  'not if then else additionalProperties propertyNames items contains unevaluatedProperties unevaluatedItems'
export const schemaListKeywords = 'allOf anyOf oneOf prefixItems'
export const schemaMapKeywords = 'properties patternProperties dependentSchemas $defs definitions'
export const stringKeywords = '$ref $dynamicRef format pattern'
export const anchorKeywords = '$anchor $dynamicAnchor'
export const numberKeywords = 'minimum maximum exclusiveMinimum exclusiveMaximum'
export const countKeywords = 'minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties'

export type Words<T extends string> = T extends `${infer Word} ${infer Rest}` ? Word | Words<Rest> : T
type ByName<T> = { readonly [name: string]: T }

/** Checked keywords, with `S` for their schemas: unprocessed, resolved, or compiled to tests. */
export type Keywords<S> = { readonly [K in Words<typeof schemaKeywords>]?: S } & {
  readonly [K in Words<typeof schemaListKeywords>]?: readonly S[]
} & { readonly [K in Words<typeof schemaMapKeywords>]?: ByName<S> } & {
  readonly [K in Words<typeof stringKeywords | typeof anchorKeywords> | '$id']?: string
} & { readonly [K in Words<typeof countKeywords | typeof numberKeywords> | 'multipleOf']?: number } & {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly uniqueItems?: boolean
  readonly required?: readonly string[]
  readonly dependentRequired?: ByName<readonly string[]>
}
/** A schema without annotations, in which every `$ref` is a key of one map. */
export type ResolvedNode = boolean | SchemaNode
interface SchemaNode extends Keywords<ResolvedNode> {}

export const words = (text: string): readonly string[] => text.split(' ')

/** Keywords that apply their schemas to the same value. */
export const inPlaceKeywords: ReadonlySet<string> = new Set(
  words('allOf anyOf oneOf not if then else dependentSchemas'),
)

export function rejectSchema(at: string, problem: string): never {
  throw new TypeError(`JSON Schema at ${at}: ${problem}`)
}

const [single, lists, named] = [
  new Set(words(schemaKeywords)),
  new Set(words(schemaListKeywords)),
  new Set(words(schemaMapKeywords)),
]

/**
 * Returns the same keywords with `visit(schema)` for each schema they hold. `name` is a list index or a member name.
 */
export function mapSchemas<S, T>(
  keywords: Keywords<S>,
  visit: (schema: S, keyword: string, name?: string) => T,
): Keywords<T> {
  const map = (keyword: string, value: unknown): unknown => {
    if (single.has(keyword)) return visit(value as S, keyword)
    if (lists.has(keyword)) return (value as S[]).map((schema, index) => visit(schema, keyword, String(index)))
    if (!named.has(keyword)) return value
    return Object.fromEntries(
      Object.entries(value as ByName<S>).map(([name, schema]) => [name, visit(schema, keyword, name)]),
    )
  }
  return Object.fromEntries(Object.entries(keywords).map(([keyword, value]) => [keyword, map(keyword, value)]))
}
