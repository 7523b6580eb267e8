/**
 * What each keyword asks of a value.
 *
 * Keywords that need no other are TypeBox's to judge, so that walk and code agree to the last digit. Those that hold
 * schemas or speak of names are not: TypeBox finds inherited names such as `toString` in every object.
 */

import { Check } from 'typebox/schema'
import { isObject } from '../core/json.ts'
import { closestOf } from './alternatives.ts'
import type { Keywords } from './keywords.ts'
import type { Key, Outcome, Test } from './outcome.ts'
import { below, every, failed, isPass, passed } from './outcome.ts'
import { toRegExp } from './patterns.ts'
import { sayWhy } from './sentences.ts'

type Tests = Keywords<Test>
/** `seen` is what the keywords before it have evaluated. */
type Rule = (value: unknown, seen: ReadonlySet<Key>) => Outcome

export function toRule(keyword: string, beside: Tests): Rule {
  const own: unknown = beside[keyword as keyof Tests]
  const rule = rules[keyword as keyof Tests] as ((own: unknown, beside: Tests) => Rule) | undefined
  if (rule) return rule(own, beside)
  const [alone, failure] = [{ [keyword]: own }, failed(sayWhy(keyword, own))]
  return (value) => (Check(alone, value) ? passed : failure)
}

const members = (value: unknown): readonly [string, unknown][] => (isObject(value) ? Object.entries(value) : [])
const items = (value: unknown): readonly [number, unknown][] => (Array.isArray(value) ? [...value.entries()] : [])
/** Own, so that `{}` has no `toString`. */
const own = <T>(named: { readonly [name: string]: T }, name: string): T | undefined =>
  Object.hasOwn(named, name) ? named[name] : undefined
/** A member that is `undefined` does not survive JSON. */
const present = (value: unknown): readonly [string, unknown][] => members(value).filter(([, one]) => one !== undefined)
const need = (value: unknown, name: string, message: string): Outcome =>
  isObject(value) && own(value, name) === undefined ? failed(message, name) : passed
const both = (...outcomes: readonly Outcome[]): Outcome => every(outcomes, (outcome) => outcome)

const rules: { readonly [K in keyof Tests]?: (own: NonNullable<Tests[K]>, beside: Tests) => Rule } = {
  allOf: (tests) => (value) => every(tests, (test) => test(value)),
  anyOf: (tests) => (value) => {
    const outcomes = tests.map((test) => test(value))
    return outcomes.some(isPass) ? both(...outcomes.filter(isPass)) : closestOf(outcomes)
  },
  oneOf: (tests) => (value) => {
    const outcomes = tests.map((test) => test(value))
    const [first, ...more] = outcomes.filter(isPass)
    if (more.length === 0) return first ?? closestOf(outcomes)
    return failed(`must match only one of ${tests.length} alternatives, but matches ${more.length + 1}`)
  },
  not: (test) => (value) => (isPass(test(value)) ? failed('is of a kind that is not allowed') : passed),
  if: (condition, beside) => (value) => {
    const outcome = condition(value)
    return isPass(outcome) ? both(outcome, beside.then?.(value) ?? passed) : (beside.else?.(value) ?? passed)
  },
  dependentSchemas: (named) => (value) => every(present(value), ([name]) => own(named, name)?.(value) ?? passed),
  dependentRequired: (named) => (value) =>
    every(present(value), ([name]) =>
      every(own(named, name) ?? [], (other) => need(value, other, `is required beside "${name}"`)),
    ),
  required: (names) => (value) => every(names, (name) => need(value, name, 'is required')),
  properties: (named) => (value) => every(present(value), ([name, inner]) => below(name, own(named, name), inner)),
  patternProperties: (named) => {
    const patterns = Object.entries(named).map(([pattern, test]) => ({ pattern: toRegExp(pattern), test }))
    return (value) =>
      every(members(value), ([name, inner]) =>
        every(patterns, ({ pattern, test }) => (pattern.test(name) ? below(name, test, inner) : passed)),
      )
  },
  additionalProperties: (test, { properties = {}, patternProperties = {} }) => {
    const patterns = Object.keys(patternProperties).map(toRegExp)
    const isNamed = (name: string): boolean => !!own(properties, name) || patterns.some((one) => one.test(name))
    return (value) => every(members(value), ([name, inner]) => (isNamed(name) ? passed : below(name, test, inner)))
  },
  unevaluatedProperties: (test) => (value, seen) =>
    every(members(value), ([name, inner]) => (seen.has(name) ? passed : below(name, test, inner))),
  propertyNames: (test) => (value) =>
    every(members(value), ([name]) => {
      const [issue] = test(name).issues
      return issue ? failed(`has a name that ${issue.message}`, name) : passed
    }),
  prefixItems: (tests) => (value) => every(items(value), ([index, item]) => below(index, tests[index], item)),
  items:
    (test, { prefixItems = [] }) =>
    (value) =>
      every(items(value).slice(prefixItems.length), ([index, item]) => below(index, test, item)),
  unevaluatedItems: (test) => (value, seen) =>
    every(items(value), ([index, item]) => (seen.has(index) ? passed : below(index, test, item))),
  contains:
    (test, { minContains: least = 1, maxContains: most = Infinity }) =>
    (value) => {
      const seen = items(value).flatMap(([index, item]) => (isPass(test(item)) ? [index] : []))
      if (!Array.isArray(value)) return passed
      if (seen.length < least) return failed(`must contain at least ${least} of the required items`)
      return seen.length > most ? failed(`must contain at most ${most} of the limited items`) : { issues: [], seen }
    },
}
