/**
 * `jsonSchema(…)`: plain JSON Schema 2020-12 as a Standard Schema, for tools whose schema is already written down.
 *
 * TypeBox compiles the schema to code where code may be generated. It does not get the author's document, though, but
 * one that was read, checked and linked here first, because left alone it
 * - skips a keyword it cannot read (`properties: { a: 'string' }` lets everything pass), so shapes are checked;
 * - looks every `$ref` up again while checking, so references are resolved once, at build time; none is ever fetched;
 * - needs 2ⁿ steps for n levels of `anyOf` around a recursive `$ref`, so steps are counted and past a limit handed over;
 * - reports problems by trying everything (a 400-byte value took it 6 s, 20,000 equal array items 2 s) and finds
 *   inherited names such as `toString` in every object.
 * So what is wrong, and where, is found by a walk of our own that remembers what it has seen. The same walk decides
 * alone where code generation is refused: workerd, `--disallow-code-generation-from-strings`, a page's CSP.
 *
 * A `pattern` is the author's code, and JavaScript may run it for years. Refused are the usual accidents, a repeated
 * group around a repeated thing such as `(\w+\s?)*`; and patterns that are not plainly linear only meet strings of up
 * to 4,096 characters. That is no proof: whoever takes schemas from strangers should not run their patterns at all.
 */

import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { Check, Compile } from 'typebox/schema'
import { isObject } from './core/json.ts'

export interface JsonSchema<T = unknown> {
  readonly '~standard': JsonSchemaProps<T>
}
export interface JsonSchemaProps<T> extends StandardSchemaV1.Props<T>, StandardJSONSchemaV1.Props<T> {
  /** Never coerces, never throws: the same value back, or what is wrong with it and where. */
  readonly validate: (value: unknown) => StandardSchemaV1.Result<T>
}
export interface JsonSchemaOptions {
  /**
   * `check` (default) holds strings to the formats TypeBox knows (`email`, `uri`, `date-time`, …): an author who writes
   * one means it. `note` is the standard's own default, where `format` says nothing about values.
   */
  readonly format?: 'check' | 'note'
}

const limits = { subschemas: 10_000, linked: 50_000, nesting: 64, pattern: 2_048, matched: 4_096, issues: 20 }
/** Steps for one value: of compiled code before the walk takes over, and of the walk before the value is refused. */
const steps = { compiled: 100_000, walked: 200_000 }
const dialect = { name: 'draft-2020-12', uri: 'https://json-schema.org/draft/2020-12/schema' }

/** Throws a `TypeError` that says where the schema is wrong and how to mend it. */
export function jsonSchema<T = unknown>(schema: object | boolean, options: JsonSchemaOptions = {}): JsonSchema<T> {
  const linked = link(schema, options)
  const check = compile(linked)
  const findIssues = walk(linked)
  // Text, so that nobody who was given the schema can make what is listed differ from what is checked.
  const text = toText(typeof schema === 'boolean' ? (schema ? {} : { not: {} }) : schema)
  const verbatim = ({ target = dialect.name }: Partial<StandardJSONSchemaV1.Options> = {}): Record<string, unknown> => {
    if (target === dialect.name) return JSON.parse(text)
    throw new TypeError(`This JSON Schema is written for ${dialect.name} and cannot be given as ${target}`)
  }
  return {
    '~standard': {
      version: 1,
      vendor: 'sluice',
      validate(value) {
        const verdict = check(value)
        const issues = verdict === true ? [] : findIssues(value)
        if (issues.length > 0) return { issues }
        // The two agree. Should they ever not, the answer is no.
        return verdict === false ? { issues: unexplained } : { value: value as T }
      },
      jsonSchema: { input: verbatim, output: verbatim },
    },
  }
}

function toText(schema: object): string {
  try {
    return JSON.stringify(schema)
  } catch (cause) {
    return refuse('#', `it cannot be written as JSON (${String(cause)}); remove what JSON does not know`)
  }
}

// Keywords, and what their values must look like

type Node = { readonly [keyword: string]: unknown }
type Schema = boolean | Node

/** A test, and the words for what it wants. */
type Shape = readonly [is: (value: unknown) => boolean, want: string]
const words = (text: string): readonly string[] => text.split(' ')
const types: readonly unknown[] = words('string number integer boolean null array object')
const isTypes = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 && value.every((type) => types.includes(type)) : types.includes(value)
const isNames = (value: unknown): boolean => Array.isArray(value) && value.every((name) => typeof name === 'string')
const isShallow = (value: unknown, levels = limits.nesting): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((item) => isShallow(item, levels - 1)))

const aString: Shape = [(value) => typeof value === 'string', 'a string']
const aNumber: Shape = [Number.isFinite, 'a number']
const aCount: Shape = [(value) => Number.isInteger(value) && Number(value) >= 0, 'a whole number, 0 or more']
const anAnchor: Shape = [(value) => typeof value === 'string' && /^[A-Za-z_][\w.-]*$/.test(value), 'a name without "#"']

/** Keywords that say something about a value by themselves. Whatever no table here lists is the author's note. */
const assertions: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ['type', [isTypes, `one of ${types.join(', ')}, or a list of them`]],
  ['const', [isShallow, `a value of at most ${limits.nesting} levels`]],
  ['enum', [(value) => Array.isArray(value) && isShallow(value), 'a list of values']],
  ['multipleOf', [(value) => Number.isFinite(value) && Number(value) > 0, 'a number above 0']],
  ...words('minimum maximum exclusiveMinimum exclusiveMaximum').map((keyword) => [keyword, aNumber] as const),
  ...words('minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties').map(
    (keyword) => [keyword, aCount] as const,
  ),
  ['pattern', aString],
  ['format', aString],
  ['uniqueItems', [(value) => typeof value === 'boolean', 'true or false']],
  ['required', [isNames, 'a list of names']],
  [
    'dependentRequired',
    [(value) => isObject(value) && Object.values(value).every(isNames), 'an object of lists of names'],
  ],
])
const references: ReadonlyMap<string, Shape> = new Map([
  ...words('$id $schema $ref $dynamicRef').map((keyword) => [keyword, aString] as const),
  ...words('$anchor $dynamicAnchor').map((keyword) => [keyword, anAnchor] as const),
])

/** Keywords that hold further schemas: one, a list of them, or some by name. */
const holders: ReadonlyMap<string, 'one' | 'list' | 'named'> = new Map([
  ...words(
    'not if then else additionalProperties propertyNames items contains unevaluatedProperties unevaluatedItems contentSchema',
  ).map((keyword) => [keyword, 'one'] as const),
  ...words('allOf anyOf oneOf prefixItems').map((keyword) => [keyword, 'list'] as const),
  ...words('properties patternProperties dependentSchemas $defs definitions').map(
    (keyword) => [keyword, 'named'] as const,
  ),
])
/** Only kept there, not applied to a value. */
const shelves = new Set(['$defs', 'definitions', 'contentSchema'])
/** These look at the same value again. A circle of them would never end. */
const inPlace = new Set(words('allOf anyOf oneOf not if then else dependentSchemas'))

/** Keywords of earlier drafts that 2020-12 ignores: a rule its author believes in would not be there. */
const gone: ReadonlyMap<string, string> = new Map([
  ['additionalItems', 'write "prefixItems" for the first items and "items" for the rest'],
  ['dependencies', 'write "dependentRequired" or "dependentSchemas"'],
  ['$recursiveRef', 'write "$dynamicRef"'],
])

function refuse(at: string, problem: string): never {
  throw new TypeError(`JSON Schema at ${at}: ${problem}`)
}

function checkKeywords(schema: Node, at: string): void {
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined) continue
    if (keyword === 'items' && Array.isArray(value))
      refuse(at, '"items" is one schema in 2020-12; write "prefixItems" for a list')
    const [is, want] = assertions.get(keyword) ?? references.get(keyword) ?? []
    if (is && !is(value)) refuse(at, `"${keyword}" must be ${want}`)
    const holds = holders.get(keyword)
    if (holds === 'list' && !(Array.isArray(value) && value.length > 0))
      refuse(at, `"${keyword}" must be a list of schemas`)
    if (holds === 'named' && !isObject(value)) refuse(at, `"${keyword}" must be an object of schemas`)
    if (keyword === 'pattern') checkPattern(String(value), at)
    if (keyword === 'patternProperties') for (const pattern of Object.keys(value as Node)) checkPattern(pattern, at)
    const instead = gone.get(keyword)
    if (instead) refuse(at, `"${keyword}" means nothing in 2020-12; ${instead}`)
  }
  const { $schema, $id } = schema
  if (typeof $schema === 'string' && $schema.replace(/#$/, '') !== dialect.uri)
    refuse(
      at,
      `"$schema" is "${$schema}", but only ${dialect.uri} is understood; convert the schema or remove "$schema"`,
    )
  if (typeof $id === 'string' && /#./.test($id)) refuse(at, '"$id" must not have a fragment; write that as "$anchor"')
}

// Patterns

/** The structure alone: escapes and classes become one letter. */
const structure = (pattern: string): string => pattern.replace(/\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]/g, 'a')

function checkPattern(pattern: string, at: string): void {
  const shown = JSON.stringify(pattern.slice(0, 200))
  if (pattern.length > limits.pattern)
    refuse(at, `the pattern ${shown} … is longer than ${limits.pattern}; simplify it`)
  try {
    new RegExp(pattern, 'u')
  } catch (cause) {
    refuse(at, `the pattern ${shown} is no regular expression (${String(cause)}); correct it`)
  }
  const group = /\((?:\?(?:[:=!]|<[=!]|<[^>()]*>))?([^()]*)\)([*+]|\{\d+,\}|\{\d+,\d{2,}\}|\{\d{2,}\})?/g
  for (let rest = structure(pattern), before = ''; rest !== before; ) {
    before = rest
    rest = rest.replace(group, (_, body: string, repeated = '') => {
      const isRepetition = body.split('|').some(repeatsOneThing)
      if (isRepetition && repeated !== '')
        refuse(at, `the pattern ${shown} repeats a repetition and may run for years; drop the inner or the outer one`)
      return isRepetition ? 'a+' : `a${repeated}`
    })
  }
}

/** `x+`, `x*y?` and the like: repeated once more, the same text can be cut up in exponentially many ways. */
function repeatsOneThing(body: string): boolean {
  const atoms = body.match(/[\s\S](?:[*+?]|\{\d+(?:,\d*)?\})?\??/g) ?? []
  const isRepeated = (atom: string): boolean => /^.(?:[*+]|\{\d+,)/s.test(atom)
  const needed = atoms.filter((atom) => !/^.(?:[*?]|\{0)/s.test(atom))
  return atoms.some(isRepeated) && (needed.length === 0 || (needed.length === 1 && needed.every(isRepeated)))
}

/** At most one long repetition, anchored, and no groups: time grows with the string and no faster. */
function isLinear(pattern: string): boolean {
  const bare = structure(pattern)
  const repetitions = bare.match(/[*+?]|\{\d+(?:,\d*)?\}/g) ?? []
  const short = repetitions.filter((one) => one === '?' || /^\{\d(?:,\d)?\}$/.test(one)).length
  const long = repetitions.length - short
  return !/[()|]/.test(bare) && short <= 2 && (long === 0 || (long === 1 && bare.startsWith('^')))
}

/** `test` is all that anybody calls. */
class BoundedPattern extends RegExp {
  override test(value: string): boolean {
    return value.length <= limits.matched && super.test(value)
  }
}
const toRegExp = (pattern: string): RegExp =>
  isLinear(pattern) ? new RegExp(pattern, 'u') : new BoundedPattern(pattern, 'u')

// Linking: from the author's document to schemas whose every reference is a key of `targets`

interface Place {
  readonly schema: Schema
  /** The URI that the schema's own `$id` is relative to. */
  readonly base: string
  /** A JSON pointer, for messages. */
  readonly at: string
}
interface Resource {
  readonly root: Place
  readonly anchors: Map<string, Place>
  readonly dynamic: Map<string, Place>
}
/** For every dynamic anchor the outermost place that has it. */
type Scope = ReadonlyMap<string, Place>

interface Target {
  readonly uri: string
  readonly place: Place
  readonly scope: Scope
  /** What it applies to the same value. */
  readonly again: Set<Target>
  schema: Schema
}
interface Linked {
  readonly root: Target
  readonly targets: ReadonlyMap<string, Target>
  /** False where compiled code would read the schema differently, or grow out of bounds. */
  readonly compilable: boolean
  /** Whether anything asks which parts of a value were evaluated. */
  readonly tracks: boolean
}

function link(document: unknown, { format = 'check' }: JsonSchemaOptions): Linked {
  const resources = new Map<string, Resource>()
  const surveyed = new Map<unknown, Place>()
  const variants = new Map<unknown, Map<string, Target>>()
  const targets = new Map<string, Target>()
  let [subschemas, linked] = [0, 0]
  let [compilable, tracks, hasDynamic] = [true, false, false]

  // A base, so that relative names resolve, with a scheme that nothing could fetch.
  const whole = survey({ schema: document as Schema, base: 'local:///schema', at: '#' }, 0)
  // Grows while it is read: also a reference that no value ever meets must lead somewhere.
  for (const place of surveyed.values())
    for (const reference of referencesIn(place.schema)) locate(reference, baseIn(place), place.at)
  const root = toTarget(whole, enter(new Map(), whole))
  // Grows, too: what is pointed to waits here, so that recursion goes no deeper than the document.
  for (const target of targets.values()) target.schema = emit(target.place, target.scope, target, true)
  refuseCircles()
  return { root, targets, compilable: compilable && !tracks, tracks }

  /** Checks a schema and all below it, and notes what can be pointed to. */
  function survey(place: Place, depth: number): Place {
    const { schema, at } = place
    if (typeof schema === 'boolean') return place
    if (!isObject(schema)) refuse(at, 'a schema must be an object, true or false; correct it')
    if (++subschemas > limits.subschemas)
      refuse(at, `more than ${limits.subschemas} subschemas; split or simplify the schema`)
    if (depth > limits.nesting)
      refuse(at, `nested deeper than ${limits.nesting}; move parts to "$defs" and point to them`)
    checkKeywords(schema, at)
    surveyed.set(schema, place)
    const base = baseIn(place)
    if (depth === 0 || hasId(schema)) add(resources, base, { root: place, anchors: new Map(), dynamic: new Map() }, at)
    const resource = resources.get(base)
    for (const anchor of [schema['$anchor'], schema['$dynamicAnchor']])
      if (typeof anchor === 'string' && resource) add(resource.anchors, anchor, place, at)
    if (schema['$dynamicAnchor'] !== undefined) resource?.dynamic.set(String(schema['$dynamicAnchor']), place)
    hasDynamic ||= '$dynamicRef' in schema
    tracks ||= 'unevaluatedItems' in schema || 'unevaluatedProperties' in schema
    children(schema, (child, path) => survey({ schema: child, base, at: at + path }, depth + 1))
    return place
  }

  /** Inside a resource its dynamic anchors count, unless an outer resource has the name already. */
  function enter(scope: Scope, place: Place): Scope {
    const dynamic = hasDynamic ? resources.get(baseIn(place))?.dynamic : undefined
    return dynamic?.size ? new Map([...dynamic, ...scope]) : scope
  }

  function toTarget(place: Place, scope: Scope): Target {
    const outer = [...scope].map(([name, { base, at }]) => `${name} ${base} ${at}`)
    const key = [place.base, ...outer.sort()].join('\n')
    const known = variants.get(place.schema)?.get(key)
    if (known) return known
    const target = { uri: `urn:sluice:${targets.size}`, place, scope, again: new Set<Target>(), schema: true }
    variants.set(place.schema, (variants.get(place.schema) ?? new Map()).set(key, target))
    targets.set(target.uri, target)
    return target
  }

  /** The schema for the engines, without notes. `still` as long as it speaks of the value that `from` speaks of. */
  function emit(place: Place, outer: Scope, from: Target, still: boolean): Schema {
    const { schema, at } = place
    if (typeof schema === 'boolean') return schema
    if (++linked > limits.linked)
      refuse(at, `more than ${limits.linked} subschemas once all references are followed; simplify it`)
    const base = baseIn(place)
    const scope = hasId(schema) ? enter(outer, place) : outer
    const node: Record<string, unknown> = {}
    const pointers: Schema[] = []
    const inner = children(
      schema,
      (child, path, keyword) =>
        shelves.has(keyword) ||
        emit({ schema: child, base, at: at + path }, scope, from, still && inPlace.has(keyword)),
    )
    for (const [keyword, value] of inner) {
      if (keyword === '$ref' || keyword === '$dynamicRef') {
        const target = follow(String(value), base, scope, at, keyword === '$dynamicRef')
        if (still) from.again.add(target)
        pointers.push({ $ref: target.uri })
      } else if (keyword === 'pattern') node[keyword] = toRegExp(String(value))
      // TypeBox doubles it in 32 bits. No string is that long.
      else if (keyword === 'minLength') node[keyword] = Math.min(Number(value), 2 ** 30 - 1)
      else if (keyword === 'format' && format === 'note') continue
      else if (assertions.has(keyword) || (holders.has(keyword) && !shelves.has(keyword))) node[keyword] = value
    }
    compilable &&= isCompilable(node)
    return pointers.length === 0 ? node : { ...node, allOf: [...listOf(node['allOf']), ...pointers] }
  }

  function locate(reference: string, base: string, at: string): { place: Place; resource: Resource; fragment: string } {
    const { uri, fragment } = resolveUri(reference, base, at)
    const resource = resources.get(uri)
    if (!resource)
      refuse(
        at,
        `"${reference}" points outside this document, and nothing is fetched; copy it to "$defs" and write "#/$defs/…"`,
      )
    const isPointer = fragment === '' || fragment.startsWith('/')
    const place = isPointer ? descend(resource.root, fragment) : resource.anchors.get(fragment)
    if (!place) refuse(at, `"${reference}" points to nothing; correct it, or add what it names`)
    // Below keywords nobody knows there may be schemas that were not looked at yet.
    if (!surveyed.has(place.schema)) survey(place, 1)
    return { place, resource, fragment }
  }

  function follow(reference: string, base: string, scope: Scope, at: string, dynamically: boolean): Target {
    const { place: found, resource, fragment } = locate(reference, base, at)
    const isDynamic = dynamically && resource.dynamic.get(fragment) === found
    const place = (isDynamic ? scope.get(fragment) : undefined) ?? found
    // A schema with an `$id` enters its resource when it is emitted.
    return toTarget(place, hasId(place.schema) ? scope : enter(scope, place))
  }

  /** Takes away what ends, then what leads only there, and so on. What is left goes around for ever. */
  function refuseCircles(): void {
    const leading = new Map([...targets.values()].map((target): [Target, Target[]] => [target, []]))
    for (const target of targets.values()) for (const next of target.again) leading.get(next)?.push(target)
    const ending = [...targets.values()].filter(({ again }) => again.size === 0)
    for (const end of ending)
      for (const target of leading.get(end) ?? []) {
        target.again.delete(end)
        if (target.again.size === 0) ending.push(target)
      }
    const around = [...targets.values()].find(({ again }) => again.size > 0)
    if (around) refuse(around.place.at, 'it refers to itself for the same value; put "properties" or "items" between')
  }
}

const referencesIn = (schema: Schema): readonly string[] =>
  isObject(schema) ? [schema['$ref'], schema['$dynamicRef']].filter((to) => typeof to === 'string') : []

/** A JavaScript object may stand in several places of a schema; two different ones may not have the same name. */
function add<T extends Place | Resource>(into: Map<string, T>, name: string, value: T, at: string): void {
  const schemaOf = (one: Place | Resource): Schema => ('root' in one ? one.root.schema : one.schema)
  const before = into.get(name)
  if (!before) into.set(name, value)
  else if (schemaOf(before) !== schemaOf(value)) refuse(at, `a second schema is called "${name}"; rename one of them`)
}

/** All keywords, with the schemas they hold replaced by what `visit` returns. */
function children(schema: Node, visit: (child: Schema, path: string, keyword: string) => unknown): [string, unknown][] {
  return Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    if (value === undefined) return []
    const on = (child: unknown, ...path: (string | number)[]): unknown =>
      visit(child as Schema, [keyword, ...path].map(toStep).join(''), keyword)
    const holds = holders.get(keyword)
    if (holds === 'one') return [[keyword, on(value)]]
    if (holds === 'list') return [[keyword, listOf(value).map((child, index) => on(child, index))]]
    if (holds !== 'named') return [[keyword, value]]
    return [
      [keyword, Object.fromEntries(Object.entries(value as Node).map(([name, child]) => [name, on(child, name)]))],
    ]
  })
}

const listOf = (value: unknown): readonly Schema[] => (Array.isArray(value) ? value : [])

const toStep = (name: string | number): string => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`

/** Along a JSON pointer. Also through keywords nobody knows: people keep shared schemas in places of their own. */
function descend(root: Place, pointer: string): Place | undefined {
  let place = root
  for (const token of pointer.split('/').slice(1)) {
    const inner: unknown = place.schema
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, name)) return undefined
    place = { schema: (inner as Node)[name] as Schema, base: baseIn(place), at: place.at + toStep(name) }
  }
  return place
}

const hasId = (schema: Schema): schema is Node & { readonly $id: string } =>
  isObject(schema) && typeof schema['$id'] === 'string'

const baseIn = ({ schema, base, at }: Place): string => (hasId(schema) ? resolveUri(schema.$id, base, at).uri : base)

function resolveUri(reference: string, base: string, at: string): { readonly uri: string; readonly fragment: string } {
  try {
    const url = new URL(reference, base)
    const fragment = decodeURIComponent(url.hash.slice(1))
    url.hash = ''
    return { uri: url.href, fragment }
  } catch {
    return refuse(at, `"${reference}" is no URI reference; correct it`)
  }
}

/**
 * Compiled code finds inherited names, cannot bound the names it matches, and triples with every nested `minContains`.
 * (It also takes an array's items for properties where `unevaluatedProperties` is about: such schemas are only walked.)
 */
function isCompilable(node: Node): boolean {
  const { properties = {}, patternProperties = {}, dependentRequired = {}, dependentSchemas = {}, required = [] } = node
  const named = [properties, dependentRequired, dependentSchemas].flatMap((one) => Object.keys(one as Node))
  const mentioned = [...named, ...listOf(required), ...Object.values(dependentRequired as Node).flatMap(listOf)]
  return (
    !mentioned.some((name) => String(name) in Object.prototype) &&
    Object.keys(patternProperties as Node).every(isLinear) &&
    !('minContains' in node || 'maxContains' in node)
  )
}

// Compiling

/** True, false, or `undefined` where only the walk can tell. */
function compile({ root, targets, compilable }: Linked): (value: unknown) => boolean | undefined {
  const cannotTell = (): undefined => undefined
  if (!compilable) return cannotTell
  let left = 0
  // Stands before whatever is pointed to: without references, work is bounded by the size of the schema and the value.
  const counter = { check: () => left-- > 0 || giveUp(), error: () => '' }
  const counted = (schema: Schema): object => ({ allOf: [{ '~refine': [counter] }, schema] })
  try {
    const context = Object.fromEntries([...targets.values()].map(({ uri, schema }) => [uri, counted(schema)]))
    const compiled = Compile(context, root.schema)
    // TypeBox tries `new Function` once and remembers the answer. On workerd it may work while modules load and throw
    // during a request, so a refusal counts both when it is foreseen and when it comes.
    if (!compiled.IsAccelerated()) return cannotTell
    return function check(value) {
      left = steps.compiled
      try {
        return compiled.Check(value)
      } catch {
        return undefined
      }
    }
  } catch {
    return cannotTell
  }
}

function giveUp(): never {
  throw new RangeError('Too many steps')
}

// Walking

type Key = string | number

interface Issue {
  readonly message: string
  readonly path: readonly Key[]
}
const unexplained: readonly Issue[] = [{ message: 'does not match the schema', path: [] }]

/** Whether the value passes. Says why not, unless it was asked in silence. */
type Test = (value: unknown, at: Visit) => boolean

interface Visit {
  readonly path: Path | undefined
  /** Absent while alternatives are tried out: then the first failure is enough. */
  readonly issues: Issue[] | undefined
  /** Which parts of this value were evaluated, where the schema asks for it. */
  readonly seen: Seen | undefined
  readonly run: Run
}
interface Path {
  readonly up: Path | undefined
  readonly key: Key
}
type Seen = Set<Key>
interface Run {
  left: number
  /** By target and value: without it, alternatives inside alternatives would be walked exponentially often. */
  readonly known: Map<string, Map<unknown, Known>>
}
interface Known {
  readonly passed: boolean
  readonly seen: Seen | undefined
  /** What there was to tell, if it was asked for, and of which place: equal strings may stand at two. */
  readonly issues: readonly Issue[] | undefined
  readonly path: Path | undefined
}

function walk({ root, targets, tracks }: Linked): (value: unknown) => readonly Issue[] {
  const tests = new Map<string, Test>()
  for (const { uri, schema } of targets.values()) tests.set(uri, toTest(schema, tests))
  return function findIssues(value) {
    const issues: Issue[] = []
    const run: Run = { left: steps.walked, known: new Map() }
    try {
      const at: Visit = { path: undefined, issues, seen: tracks ? new Set() : undefined, run }
      if (tests.get(root.uri)?.(value, at) === true) return []
    } catch {
      // Out of steps or out of stack. What cannot be checked does not pass.
      return [{ message: 'is too large or too deep to be checked against this schema', path: [] }]
    }
    return issues.length > 0 ? issues : unexplained
  }
}

const pathOf = (path: Path | undefined): readonly Key[] => (path ? [...pathOf(path.up), path.key] : [])

function fail(at: Visit, message: string, ...below: readonly Key[]): false {
  if (at.issues) tell(at, [{ message, path: [...pathOf(at.path), ...below] }])
  return false
}

/** Up to the limit, and nothing twice: schemas joined by `allOf` like to ask for the same thing. */
function tell({ issues }: Visit, more: readonly Issue[]): void {
  for (const { message, path } of more) {
    const isTold = issues?.some((issue) => issue.message === message && String(issue.path) === String(path))
    if (issues && issues.length < limits.issues && !isTold) issues.push({ message, path })
  }
}

/** All of them, so that every issue is told; in silence, or when enough is told, only up to the first. */
function every<T>(items: Iterable<T>, at: Visit, test: (item: T) => boolean): boolean {
  let passed = true
  for (const item of items) {
    if (test(item)) continue
    passed = false
    if (!at.issues || at.issues.length >= limits.issues) return false
  }
  return passed
}

/** Another schema for the same value. What it evaluated counts if it passes. */
function same(test: Test, value: unknown, at: Visit, issues: Issue[] | undefined): boolean {
  const seen = at.seen && new Set<Key>()
  const passed = test(value, { ...at, seen, issues })
  if (passed) for (const key of seen ?? []) at.seen?.add(key)
  return passed
}

/** The member or item at `key`, which counts as evaluated from here on. */
function below(tests: readonly Test[], value: unknown, key: Key, at: Visit): boolean {
  if (tests.length === 0) return true
  at.seen?.add(key)
  const inside: Visit = { ...at, path: { up: at.path, key }, seen: at.seen && new Set() }
  return every(tests, at, (test) => test(value, inside))
}

function toTest(schema: Schema, targets: ReadonlyMap<string, Test>): Test {
  if (schema === true) return () => true
  if (schema === false) return (_, at) => fail(at, 'is not allowed')
  const rulesFor = (isMine: (keyword: string) => boolean): readonly Test[] =>
    Object.entries(schema).flatMap(([keyword, argument]) => {
      const rule = isMine(keyword) ? rules[keyword] : undefined
      return rule ? [rule(argument, schema, (inner) => toTest(inner as Schema, targets), targets)] : []
    })
  const isLate = (keyword: string): boolean => keyword.startsWith('unevaluated')
  const early = [...judgedByTypeBox(schema), ...rulesFor((keyword) => !isLate(keyword))]
  const late = rulesFor(isLate)
  return function testSchema(value, at) {
    if (at.run.left-- <= 0) giveUp()
    // What is left over is known only once everything else has passed.
    return every(early, at, (rule) => rule(value, at)) && every(late, at, (rule) => rule(value, at))
  }
}

type Rule = (
  argument: unknown,
  schema: Node,
  toTest: (schema: unknown) => Test,
  targets: ReadonlyMap<string, Test>,
) => Test

/** `then`, `else` and these are read by the keyword they belong to. */
const readByOthers = new Set(['minContains', 'maxContains'])

/** Keywords that need no other. Taken from TypeBox, so that both engines agree to the last digit. */
function judgedByTypeBox(schema: Node): readonly Test[] {
  const alone = Object.entries(schema).filter(
    ([keyword]) => !holders.has(keyword) && !rules[keyword] && !readByOthers.has(keyword),
  )
  if (alone.length === 0) return []
  const together = Object.fromEntries(alone)
  const each = alone.map(([keyword, argument]) => ({
    schema: { [keyword]: argument },
    message: sayWhy(keyword, argument),
  }))
  return [
    (value, at) =>
      Check(together, value) || every(each, at, ({ schema, message }) => Check(schema, value) || fail(at, message)),
  ]
}

const forObjects =
  (test: (value: Node, at: Visit) => boolean): Test =>
  (value, at) =>
    !isObject(value) || test(value, at)
const forArrays =
  (test: (value: readonly unknown[], at: Visit) => boolean): Test =>
  (value, at) =>
    !Array.isArray(value) || test(value, at)

/** Own and defined: `{}` has no `toString`, and `undefined` does not survive JSON. */
const has = (value: Node, name: string): boolean => Object.hasOwn(value, name) && value[name] !== undefined

const byName = (named: unknown, toTest: (schema: unknown) => Test): readonly (readonly [string, Test])[] =>
  Object.entries((named ?? {}) as Node).map(([name, schema]) => [name, toTest(schema)])

const rules: Readonly<Record<string, Rule>> = {
  $ref: (uri, _schema, _toTest, targets) => (value, at) => followOnce(String(uri), targets, value, at),
  allOf: (list, _, toTest) => {
    const tests = listOf(list).map(toTest)
    return (value, at) => every(tests, at, (test) => same(test, value, at, at.issues))
  },
  anyOf: (list, _, toTest) => {
    const tests = listOf(list).map(toTest)
    const passes = (test: Test, value: unknown, at: Visit): boolean => same(test, value, at, undefined)
    return (value, at) => {
      // Where it matters what was evaluated, every alternative that passes adds to it.
      const some = at.seen
        ? tests.filter((test) => passes(test, value, at)).length > 0
        : tests.some((test) => passes(test, value, at))
      return some || failAlternatives(tests, value, at)
    }
  },
  oneOf: (list, _, toTest) => {
    const tests = listOf(list).map(toTest)
    return (value, at) => {
      const passed = tests.filter((test) => same(test, value, at, undefined)).length
      if (passed > 1) return fail(at, `must match only one of ${tests.length} alternatives, but matches ${passed}`)
      return passed === 1 || failAlternatives(tests, value, at)
    }
  },
  not: (schema, _, toTest) => {
    const test = toTest(schema)
    return (value, at) =>
      !test(value, { ...at, issues: undefined, seen: at.seen && new Set() }) ||
      fail(at, 'is of a kind that is not allowed')
  },
  if: (schema, { then: yes = true, else: no = true }, toTest) => {
    const [condition, then, otherwise] = [toTest(schema), toTest(yes), toTest(no)]
    return (value, at) => same(same(condition, value, at, undefined) ? then : otherwise, value, at, at.issues)
  },
  dependentSchemas: (named, _, toTest) => {
    const tests = byName(named, toTest)
    return forObjects((value, at) =>
      every(tests, at, ([name, test]) => !has(value, name) || same(test, value, at, at.issues)),
    )
  },
  required: (names) =>
    forObjects((value, at) =>
      every(names as string[], at, (name) => has(value, name) || fail(at, 'is required', name)),
    ),
  dependentRequired: (named) =>
    forObjects((value, at) =>
      every(Object.entries(named as Record<string, string[]>), at, ([name, needed]) => {
        if (!has(value, name)) return true
        return every(needed, at, (other) => has(value, other) || fail(at, `is required beside "${name}"`, other))
      }),
    ),
  properties: (named, _, toTest) => {
    const tests = byName(named, toTest)
    return forObjects((value, at) =>
      every(tests, at, ([name, test]) => !has(value, name) || below([test], value[name], name, at)),
    )
  },
  patternProperties: (named, _, toTest) => {
    const tests = byName(named, toTest).map(([pattern, test]) => ({ pattern: toRegExp(pattern), test }))
    return forObjects((value, at) =>
      every(Object.keys(value), at, (name) => {
        if (name.length > limits.matched) return fail(at, 'has a name that is too long')
        const matching = tests.filter(({ pattern }) => pattern.test(name)).map(({ test }) => test)
        return below(matching, value[name], name, at)
      }),
    )
  },
  additionalProperties: (schema, { properties = {}, patternProperties = {} }, toTest) => {
    const tests = [toTest(schema)]
    const patterns = Object.keys(patternProperties as Node).map(toRegExp)
    const isNamed = (name: string): boolean =>
      Object.hasOwn(properties as Node, name) || patterns.some((pattern) => pattern.test(name))
    return forObjects((value, at) =>
      every(Object.keys(value), at, (name) => isNamed(name) || below(tests, value[name], name, at)),
    )
  },
  unevaluatedProperties: (schema, _, toTest) => {
    const tests = [toTest(schema)]
    return forObjects((value, at) =>
      every(Object.keys(value), at, (name) => at.seen?.has(name) || below(tests, value[name], name, at)),
    )
  },
  propertyNames: (schema, _, toTest) => {
    const test = toTest(schema)
    return forObjects((value, at) =>
      every(Object.keys(value), at, (name) => {
        const issues: Issue[] = []
        if (test(name, { ...at, issues, seen: at.seen && new Set() })) return true
        return fail(at, `has a name that ${issues[0]?.message ?? 'is not allowed'}`, name)
      }),
    )
  },
  prefixItems: (list, _, toTest) => {
    const tests = listOf(list).map(toTest)
    return forArrays((value, at) =>
      every(tests.slice(0, value.length).entries(), at, ([index, test]) => below([test], value[index], index, at)),
    )
  },
  items: (schema, { prefixItems }, toTest) => {
    const tests = [toTest(schema)]
    const first = listOf(prefixItems).length
    return forArrays((value, at) =>
      every(value.entries(), at, ([index, item]) => index < first || below(tests, item, index, at)),
    )
  },
  unevaluatedItems: (schema, _, toTest) => {
    const tests = [toTest(schema)]
    return forArrays((value, at) =>
      every(value.entries(), at, ([index, item]) => at.seen?.has(index) || below(tests, item, index, at)),
    )
  },
  contains: (schema, { minContains = 1, maxContains = Infinity }, toTest) => {
    const test = toTest(schema)
    return forArrays((value, at) => {
      let matching = 0
      for (const [index, item] of value.entries()) {
        if (!test(item, { ...at, issues: undefined, seen: at.seen && new Set() })) continue
        at.seen?.add(index)
        matching++
      }
      if (matching < Number(minContains)) return fail(at, `must contain at least ${minContains} of the required items`)
      return matching <= Number(maxContains) || fail(at, `must contain at most ${maxContains} of the limited items`)
    })
  },
}

function followOnce(uri: string, targets: ReadonlyMap<string, Test>, value: unknown, at: Visit): boolean {
  const known = at.run.known.get(uri) ?? new Map<unknown, Known>()
  at.run.known.set(uri, known)
  let answer = known.get(value)
  const isHere = answer?.path === at.path || (typeof value === 'object' && value !== null)
  if (!answer || (!answer.passed && at.issues && !(answer.issues && isHere))) {
    const seen = at.seen && new Set<Key>()
    const issues: Issue[] | undefined = at.issues && []
    const passed = targets.get(uri)?.(value, { ...at, seen, issues }) === true
    answer = { passed, seen, issues, path: at.path }
    known.set(value, answer)
  }
  if (answer.passed) for (const key of answer.seen ?? []) at.seen?.add(key)
  else tell(at, answer.issues ?? [])
  return answer.passed
}

/** Tells of the alternative that came closest, or in one sentence of all that came equally close. */
function failAlternatives(tests: readonly Test[], value: unknown, at: Visit): false {
  if (!at.issues) return false
  const here = pathOf(at.path)
  const told = tests.map((test) => {
    const issues: Issue[] = []
    test(value, { ...at, issues, seen: at.seen && new Set() })
    return issues
  })
  // One that is content with the value itself, though not with its parts, is what the caller meant.
  const deeper = told.filter((issues) => issues.length > 0 && issues.every(({ path }) => path.length > here.length))
  const fewest = Math.min(...deeper.map((issues) => issues.length))
  const closest = deeper.filter((issues) => issues.length === fewest)
  if (closest[0] && (closest.length === 1 || fewest > 1)) {
    tell(at, closest[0])
    return false
  }
  const outright = told.flatMap((issues) => issues.filter(({ path }) => path.length === here.length).slice(0, 1))
  const wanted = closest.length > 0 ? closest.flat() : outright
  const isOnePlace = new Set(wanted.map(({ path }) => String(path))).size === 1
  const path = (isOnePlace ? wanted[0]?.path : undefined) ?? here
  const says = [...new Set(wanted.map((issue) => [...issue.path.slice(path.length), issue.message].join(' ')))]
  tell(at, [{ message: says.length > 4 ? `matches none of ${tests.length} alternatives` : says.join(' or '), path }])
  return false
}

/** Words for what TypeBox judges. They quote the schema, never the value. */
function sayWhy(keyword: string, argument: unknown): string {
  const listed = Array.isArray(argument) && keyword !== 'const' ? argument : [argument]
  const isType = keyword === 'type'
  const words = listed.map((one) => (isType ? (kinds[String(one)] ?? `a ${one}`) : JSON.stringify(one)))
  const shown = argument instanceof RegExp ? argument.source : words.join(isType ? ' or ' : ', ')
  const sentence = (sentences[keyword] ?? 'does not match the schema').replace('…', () => shown)
  return sentence.length > 500 ? `${sentence.slice(0, 500)} …` : sentence
}

const kinds: Readonly<Record<string, string>> = {
  integer: 'an integer',
  array: 'an array',
  object: 'an object',
  null: 'null',
}
const sentences: Readonly<Record<string, string>> = {
  type: 'must be …',
  const: 'must be …',
  enum: 'must be one of …',
  multipleOf: 'must be a multiple of …',
  minimum: 'must be at least …',
  maximum: 'must be at most …',
  exclusiveMinimum: 'must be more than …',
  exclusiveMaximum: 'must be less than …',
  minLength: 'must have at least … characters',
  maxLength: 'must have at most … characters',
  pattern: 'must match the pattern …',
  format: 'must be in the format …',
  minItems: 'must have at least … items',
  maxItems: 'must have at most … items',
  uniqueItems: 'must not have two equal items',
  minProperties: 'must have at least … properties',
  maxProperties: 'must have at most … properties',
}
