/**
 * The keywords of JSON Schema 2020-12, and the schemas they hold. Past `dialects.ts` every document is written in these,
 * whatever its draft.
 */

/** Keywords by the kind of value they take, as space-separated names: a schema, a list of them, schemas by name, … */
export const one =
  'not if then else additionalProperties propertyNames items contains unevaluatedProperties unevaluatedItems'
export const list = 'allOf anyOf oneOf prefixItems'
export const named = 'properties patternProperties dependentSchemas $defs definitions'
export const texts = '$ref $dynamicRef format pattern'
export const anchors = '$anchor $dynamicAnchor'
export const numbers = 'minimum maximum exclusiveMinimum exclusiveMaximum'
export const counts = 'minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties'

type Words<T extends string> = T extends `${infer Word} ${infer Rest}` ? Word | Words<Rest> : T
type Named<T> = { readonly [name: string]: T }

/** Keywords that were checked, with `S` for the schemas they hold: as they came, resolved, or compiled to tests. */
export type Keywords<S> = { readonly [K in Words<typeof one>]?: S } & {
  readonly [K in Words<typeof list>]?: readonly S[]
} & { readonly [K in Words<typeof named>]?: Named<S> } & {
  readonly [K in Words<typeof texts | typeof anchors> | '$id']?: string
} & { readonly [K in Words<typeof counts | typeof numbers> | 'multipleOf']?: number } & {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly uniqueItems?: boolean
  readonly required?: readonly string[]
  readonly dependentRequired?: Named<readonly string[]>
}
/** A schema without annotations, whose every `$ref` is a key of one map. */
export type Schema = boolean | SchemaNode
interface SchemaNode extends Keywords<Schema> {}

export const words = (text: string): readonly string[] => text.split(' ')

/** Keywords that apply their schemas to the same value. */
export const inPlace: ReadonlySet<string> = new Set(words('allOf anyOf oneOf not if then else dependentSchemas'))

export function refuse(at: string, problem: string): never {
  throw new TypeError(`JSON Schema at ${at}: ${problem}`)
}

const [ones, lists, nameds] = [new Set(words(one)), new Set(words(list)), new Set(words(named))]

/** Returns the same keywords with `visit(schema)` for each schema they hold. `name` is a list index or a member name. */
export function mapSchemas<S, T>(
  keywords: Keywords<S>,
  visit: (schema: S, keyword: string, name?: string) => T,
): Keywords<T> {
  const map = (keyword: string, value: unknown): unknown => {
    if (ones.has(keyword)) return visit(value as S, keyword)
    if (lists.has(keyword)) return (value as S[]).map((schema, index) => visit(schema, keyword, String(index)))
    if (!nameds.has(keyword)) return value
    return Object.fromEntries(
      Object.entries(value as Named<S>).map(([name, schema]) => [name, visit(schema, keyword, name)]),
    )
  }
  return Object.fromEntries(Object.entries(keywords).map(([keyword, value]) => [keyword, map(keyword, value)]))
}
