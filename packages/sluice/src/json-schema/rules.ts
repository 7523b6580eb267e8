/**
 * What each keyword asks of a value, as a test of the walk.
 *
 * Keywords that need no other are TypeBox's to judge, so that walk and code agree to the last digit. Those that hold
 * schemas or speak of names are not: TypeBox finds inherited names such as `toString` in every object.
 */

import { Check } from 'typebox/schema'
import { isObject } from '../core/json.ts'
import { failAlternatives } from './alternatives.ts'
import type { Keywords } from './keywords.ts'
import { maxMatched, toRegExp } from './patterns.ts'
import { sayWhy } from './sentences.ts'
import type { Issue, Test } from './visit.ts'
import { aside, below, every, fail, same } from './visit.ts'

type Tests = Keywords<Test>

export function toRule(keyword: string, beside: Tests): Test {
  const own: unknown = beside[keyword as keyof Tests]
  const rule = rules[keyword as keyof Tests] as ((own: unknown, beside: Tests) => Test) | undefined
  if (rule) return rule(own, beside)
  const [alone, message] = [{ [keyword]: own }, sayWhy(keyword, own)]
  return (value, at) => Check(alone, value) || fail(at, message)
}

const members = (value: unknown): readonly [string, unknown][] => (isObject(value) ? Object.entries(value) : [])
const items = (value: unknown): readonly [number, unknown][] => (Array.isArray(value) ? [...value.entries()] : [])
/** Own, so that `{}` has no `toString`. */
const own = <T>(named: { readonly [name: string]: T }, name: string): T | undefined =>
  Object.hasOwn(named, name) ? named[name] : undefined
/** A member that is `undefined` does not survive JSON. */
const present = (value: unknown): readonly [string, unknown][] => members(value).filter(([, one]) => one !== undefined)
const lacks = (value: unknown, name: string): boolean => isObject(value) && own(value, name) === undefined

const rules: { readonly [K in keyof Tests]?: (own: NonNullable<Tests[K]>, beside: Tests) => Test } = {
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
  if: (condition, beside) => (value, at) =>
    same(same(condition, value, at) ? beside.then : beside.else, value, at, at.issues),
  dependentSchemas: (named) => (value, at) =>
    every(present(value), at, ([name]) => same(own(named, name), value, at, at.issues)),
  dependentRequired: (named) => (value, at) =>
    every(present(value), at, ([name]) => {
      const missing = own(named, name)?.filter((other) => lacks(value, other)) ?? []
      return every(missing, at, (other) => fail(at, `is required beside "${name}"`, other))
    }),
  required: (names) => (value, at) => every(names, at, (name) => !lacks(value, name) || fail(at, 'is required', name)),
  properties: (named) => (value, at) =>
    every(present(value), at, ([name, inner]) => below(own(named, name), inner, name, at)),
  patternProperties: (named) => {
    const patterns = Object.entries(named).map(([pattern, test]) => ({ pattern: toRegExp(pattern), test }))
    return (value, at) =>
      every(members(value), at, ([name, inner]) => {
        if (name.length > maxMatched) return fail(at, 'has a name that is too long')
        return every(patterns, at, ({ pattern, test }) => !pattern.test(name) || below(test, inner, name, at))
      })
  },
  additionalProperties: (test, { properties = {}, patternProperties = {} }) => {
    const patterns = Object.keys(patternProperties).map(toRegExp)
    const isNamed = (name: string): boolean => !!own(properties, name) || patterns.some((one) => one.test(name))
    return (value, at) => every(members(value), at, ([name, inner]) => isNamed(name) || below(test, inner, name, at))
  },
  unevaluatedProperties: (test) => (value, at) =>
    every(members(value), at, ([name, inner]) => at.seen?.has(name) || below(test, inner, name, at)),
  propertyNames: (test) => (value, at) =>
    every(members(value), at, ([name]) => {
      const issues: Issue[] = []
      return test(name, aside(at, issues)) || fail(at, `has a name that ${issues[0]?.message}`, name)
    }),
  prefixItems: (tests) => (value, at) =>
    every(items(value), at, ([index, item]) => below(tests[index], item, index, at)),
  items:
    (test, { prefixItems = [] }) =>
    (value, at) =>
      every(items(value).slice(prefixItems.length), at, ([index, item]) => below(test, item, index, at)),
  unevaluatedItems: (test) => (value, at) =>
    every(items(value), at, ([index, item]) => at.seen?.has(index) || below(test, item, index, at)),
  contains:
    (test, { minContains: least = 1, maxContains: most = Infinity }) =>
    (value, at) => {
      if (!Array.isArray(value)) return true
      const matching = items(value).filter(([, item]) => test(item, aside(at)))
      for (const [index] of matching) at.seen?.add(index)
      if (matching.length < least) return fail(at, `must contain at least ${least} of the required items`)
      return matching.length <= most || fail(at, `must contain at most ${most} of the limited items`)
    },
}
