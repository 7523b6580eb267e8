/**
 * The rule of each keyword.
 *
 * Names are looked up among a value's own members only, so that `{}` has no `toString`. Loops end when there are enough
 * issues, so that a value with a million problems costs as much as one with twenty.
 */

import { isObject } from '../core/json.ts'
import { closestOf } from './alternatives.ts'
import type { Keywords } from './keywords.ts'
import { messageFor } from './messages.ts'
import type { PathKey, SchemaTest, TestOutcome } from './outcome.ts'
import { failed, isPass, joinOutcomes, maxIssues, passed, prefixPath } from './outcome.ts'
import type { PatternSteps } from './pattern.ts'
import { toPattern } from './pattern.ts'
import { toPredicate } from './scalars.ts'

type Tests = Keywords<SchemaTest>
/** `seen` is what earlier keywords have evaluated. */
type Rule = (value: unknown, seen: ReadonlySet<PathKey>) => TestOutcome

/**
 * Makes the rule of a keyword. `isTracking` is true in a document that has `unevaluated…`, because only there evaluated
 * members matter.
 */
export function toRule(keyword: string, siblings: Tests, isTracking: boolean, steps: PatternSteps): Rule {
  const argument: unknown = siblings[keyword as keyof Tests]
  const predicate = toPredicate(keyword, argument, steps)
  if (predicate) {
    const failure = failed(messageFor(keyword, argument))
    return (value) => (predicate(value) ? passed : failure)
  }
  const rule = rules[keyword as keyof Tests] as
    | ((argument: unknown, siblings: Tests, isTracking: boolean, steps: PatternSteps) => Rule)
    | undefined
  return rule?.(argument, siblings, isTracking, steps) ?? (() => passed)
}

const ownMember = <T>(named: { readonly [name: string]: T }, name: string): T | undefined =>
  Object.hasOwn(named, name) ? named[name] : undefined
const requireMember = (value: object, name: string, message: string): TestOutcome =>
  ownMember(value as Record<string, unknown>, name) === undefined ? failed(message, name) : passed

/** Joins the outcomes of `test` over `items`, until there are enough issues. */
function every<T>(items: readonly T[], test: (item: T) => TestOutcome): TestOutcome {
  let outcome = passed
  for (const item of items) {
    outcome = joinOutcomes(outcome, test(item))
    if (outcome.issues.length >= maxIssues) break
  }
  return outcome
}

/** Adds the outcome of a member or item to the previous ones. */
const add = (outcome: TestOutcome, key: PathKey, inner: TestOutcome): TestOutcome =>
  isPass(inner) ? outcome : joinOutcomes(outcome, prefixPath(key, inner))
const withSeen = (outcome: TestOutcome, seen: readonly PathKey[] | undefined): TestOutcome =>
  seen ? { issues: outcome.issues, seen } : outcome

/** Tests the members for which `pick` returns a test. A member that is `undefined` does not survive JSON. */
function overMembers(
  isTracking: boolean,
  pick: (name: string, seen: ReadonlySet<PathKey>) => SchemaTest | undefined,
): Rule {
  return (value, seen) => {
    if (!isObject(value)) return passed
    let outcome = passed
    const evaluated: PathKey[] | undefined = isTracking ? [] : undefined
    for (const name of Object.keys(value)) {
      const inner = value[name]
      const test = inner === undefined ? undefined : pick(name, seen)
      if (!test) continue
      outcome = add(outcome, name, test(inner))
      if (outcome.issues.length >= maxIssues) break
      evaluated?.push(name)
    }
    return withSeen(outcome, evaluated)
  }
}

/** Tests the items from `first` to before `end` for which `pick` returns a test. */
function overItems(
  isTracking: boolean,
  first: number,
  end: number,
  pick: (index: number, seen: ReadonlySet<PathKey>) => SchemaTest | undefined,
): Rule {
  return (value, seen) => {
    if (!Array.isArray(value)) return passed
    let outcome = passed
    const evaluated: PathKey[] | undefined = isTracking ? [] : undefined
    for (let index = first; index < value.length && index < end; index += 1) {
      const test = pick(index, seen)
      if (!test) continue
      outcome = add(outcome, index, test(value[index]))
      if (outcome.issues.length >= maxIssues) break
      evaluated?.push(index)
    }
    return withSeen(outcome, evaluated)
  }
}

const presentNames = (value: unknown): readonly string[] =>
  isObject(value) ? Object.keys(value).filter((name) => value[name] !== undefined) : []

const rules: {
  readonly [K in keyof Tests]?: (
    argument: NonNullable<Tests[K]>,
    siblings: Tests,
    isTracking: boolean,
    steps: PatternSteps,
  ) => Rule
} = {
  allOf: (tests) => (value) => every(tests, (test) => test(value)),
  anyOf: (tests, _, isTracking) => (value) => {
    const outcomes: TestOutcome[] = []
    for (const test of tests) {
      const outcome = test(value)
      if (!isTracking && isPass(outcome)) return passed
      outcomes.push(outcome)
    }
    return outcomes.some(isPass) ? every(outcomes.filter(isPass), (outcome) => outcome) : closestOf(outcomes)
  },
  oneOf: (tests) => (value) => {
    const outcomes = tests.map((test) => test(value))
    const [first, ...more] = outcomes.filter(isPass)
    if (more.length === 0) return first ?? closestOf(outcomes)
    return failed(`must match only one of ${tests.length} alternatives, but matches ${more.length + 1}`)
  },
  not: (test) => (value) => (isPass(test(value)) ? failed('matches a schema that is not allowed') : passed),
  if: (condition, siblings) => (value) => {
    const outcome = condition(value)
    return isPass(outcome)
      ? joinOutcomes(outcome, siblings.then?.(value) ?? passed)
      : (siblings.else?.(value) ?? passed)
  },
  dependentSchemas: (named) => (value) =>
    every(presentNames(value), (name) => ownMember(named, name)?.(value) ?? passed),
  dependentRequired: (named) => (value) =>
    every(presentNames(value), (name) =>
      every(ownMember(named, name) ?? [], (other) =>
        requireMember(value as object, other, `is required beside "${name}"`),
      ),
    ),
  required: (names) => (value) =>
    isObject(value) ? every(names, (name) => requireMember(value, name, 'is required')) : passed,
  properties: (named, _, isTracking) => {
    // By declared name, so that a large object costs no more than the size of the schema.
    const tests = Object.entries(named)
    return (value) => {
      if (!isObject(value)) return passed
      let outcome = passed
      const evaluated: PathKey[] | undefined = isTracking ? [] : undefined
      for (const [name, test] of tests) {
        const inner = ownMember(value, name)
        if (inner === undefined) continue
        outcome = add(outcome, name, test(inner))
        if (outcome.issues.length >= maxIssues) break
        evaluated?.push(name)
      }
      return withSeen(outcome, evaluated)
    }
  },
  patternProperties: (named, _, isTracking, steps) => {
    const all = Object.entries(named).map(([source, test]) => {
      const pattern = toPattern(source, steps)
      return overMembers(isTracking, (name) => (pattern.test(name) ? test : undefined))
    })
    return (value, seen) => every(all, (rule) => rule(value, seen))
  },
  additionalProperties: (test, { properties = {}, patternProperties = {} }, isTracking, steps) => {
    const patterns = Object.keys(patternProperties).map((source) => toPattern(source, steps))
    const names = new Set(Object.keys(properties))
    return overMembers(isTracking, (name) =>
      names.has(name) || patterns.some((pattern) => pattern.test(name)) ? undefined : test,
    )
  },
  unevaluatedProperties: (test) => overMembers(true, (name, seen) => (seen.has(name) ? undefined : test)),
  propertyNames: (test) => (value) =>
    every(presentNames(value), (name) => {
      const [issue] = test(name).issues
      return issue ? failed(`has a name that ${issue.message}`, name) : passed
    }),
  prefixItems: (tests, _, isTracking) => overItems(isTracking, 0, tests.length, (index) => tests[index]),
  items: (test, { prefixItems = [] }, isTracking) => overItems(isTracking, prefixItems.length, Infinity, () => test),
  unevaluatedItems: (test) => overItems(true, 0, Infinity, (index, seen) => (seen.has(index) ? undefined : test)),
  contains:
    (test, { minContains = 1, maxContains = Infinity }, isTracking) =>
    (value) => {
      if (!Array.isArray(value)) return passed
      const seen = value.flatMap((item, index) => (isPass(test(item)) ? [index] : []))
      if (seen.length < minContains) return failed(`must contain at least ${minContains} of the required items`)
      if (seen.length > maxContains) return failed(`must contain at most ${maxContains} of the limited items`)
      return withSeen(passed, isTracking ? seen : undefined)
    },
}
