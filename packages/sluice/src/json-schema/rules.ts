// biome-ignore-all lint/suspicious/noThenProperty: JSON Schema has a keyword of that name
/**
 * What each keyword asks that holds other schemas or speaks of names, as a test of the walk.
 *
 * TypeBox finds inherited names such as `toString` in every object and cannot say which of a value's parts were
 * evaluated, so these are not left to it.
 */

import { isObject } from '../core/json.ts'
import { failAlternatives } from './alternatives.ts'
import type { Keywords } from './keywords.ts'
import { maxMatched, toRegExp } from './patterns.ts'
import type { Issue, Key, Test, Visit } from './visit.ts'
import { aside, below, every, fail, same } from './visit.ts'

type Tests = Keywords<Test>
type Rules = { readonly [K in keyof Tests]?: (own: NonNullable<Tests[K]>, beside: Tests) => Test }

/** Own and defined: `{}` has no `toString`, and `undefined` does not survive JSON. */
const has = (value: object, name: string): boolean =>
  Object.hasOwn(value, name) && (value as Record<string, unknown>)[name] !== undefined

type Each<K extends Key> = (key: K, inner: unknown, at: Visit) => boolean
const forObjects =
  (test: (value: { readonly [name: string]: unknown }, at: Visit) => boolean): Test =>
  (value, at) =>
    !isObject(value) || test(value, at)
const forMembers = (test: Each<string>): Test =>
  forObjects((value, at) => every(Object.keys(value), at, (name) => test(name, value[name], at)))
const forItems =
  (test: Each<number>): Test =>
  (value, at) =>
    !Array.isArray(value) || every(value.entries(), at, ([index, item]) => test(index, item, at))

const unlessSeen =
  (test: Test): Each<Key> =>
  (key, inner, at) =>
    at.seen?.has(key) || below(test, inner, key, at)

const rules: Rules = {
  allOf: (tests) => (value, at) => every(tests, at, (test) => same(test, value, at, at.issues)),
  anyOf: (tests) => (value, at) => {
    const passes = (test: Test): boolean => same(test, value, at)
    // Where it matters what was evaluated, every alternative that passes adds to it.
    const some = at.seen ? tests.filter(passes).length > 0 : tests.some(passes)
    return some || failAlternatives(tests, value, at)
  },
  oneOf: (tests) => (value, at) => {
    const passed = tests.filter((test) => same(test, value, at)).length
    if (passed > 1) return fail(at, `must match only one of ${tests.length} alternatives, but matches ${passed}`)
    return passed === 1 || failAlternatives(tests, value, at)
  },
  not: (test) => (value, at) => !test(value, aside(at)) || fail(at, 'is of a kind that is not allowed'),
  if: (condition, beside) => (value, at) => {
    const test = same(condition, value, at) ? beside.then : beside.else
    return !test || same(test, value, at, at.issues)
  },
  dependentSchemas: (named) =>
    forObjects((value, at) =>
      every(Object.entries(named), at, ([name, test]) => !has(value, name) || same(test, value, at, at.issues)),
    ),
  required: (names) =>
    forObjects((value, at) => every(names, at, (name) => has(value, name) || fail(at, 'is required', name))),
  dependentRequired: (named) =>
    forObjects((value, at) =>
      every(Object.entries(named), at, ([name, needed]) => {
        const isMet = (other: string): boolean => has(value, other) || fail(at, `is required beside "${name}"`, other)
        return !has(value, name) || every(needed, at, isMet)
      }),
    ),
  properties: (named) =>
    forObjects((value, at) =>
      every(Object.entries(named), at, ([name, test]) => !has(value, name) || below(test, value[name], name, at)),
    ),
  patternProperties: (named) => {
    const patterns = Object.entries(named).map(([pattern, test]) => ({ pattern: toRegExp(pattern), test }))
    return forMembers((name, inner, at) => {
      if (name.length > maxMatched) return fail(at, 'has a name that is too long')
      return every(patterns, at, ({ pattern, test }) => !pattern.test(name) || below(test, inner, name, at))
    })
  },
  additionalProperties: (test, { properties = {}, patternProperties = {} }) => {
    const patterns = Object.keys(patternProperties).map(toRegExp)
    const isNamed = (name: string): boolean =>
      Object.hasOwn(properties, name) || patterns.some((pattern) => pattern.test(name))
    return forMembers((name, inner, at) => isNamed(name) || below(test, inner, name, at))
  },
  unevaluatedProperties: (test) => forMembers(unlessSeen(test)),
  propertyNames: (test) =>
    forMembers((name, _, at) => {
      const issues: Issue[] = []
      if (test(name, aside(at, issues))) return true
      return fail(at, `has a name that ${issues[0]?.message ?? 'is not allowed'}`, name)
    }),
  prefixItems: (tests) =>
    forItems((index, item, at) => {
      const test = tests[index]
      return !test || below(test, item, index, at)
    }),
  items: (test, { prefixItems = [] }) =>
    forItems((index, item, at) => index < prefixItems.length || below(test, item, index, at)),
  unevaluatedItems: (test) => forItems(unlessSeen(test)),
  contains:
    (test, { minContains = 1, maxContains = Infinity }) =>
    (value, at) => {
      if (!Array.isArray(value)) return true
      const matching = [...value.keys()].filter((index) => test(value[index], aside(at)))
      for (const index of matching) at.seen?.add(index)
      if (matching.length < minContains) return fail(at, `must contain at least ${minContains} of the required items`)
      return matching.length <= maxContains || fail(at, `must contain at most ${maxContains} of the limited items`)
    },
}

export const ruleFor = (keyword: string): ((own: unknown, beside: Tests) => Test) | undefined =>
  rules[keyword as keyof Tests] as ((own: unknown, beside: Tests) => Test) | undefined
