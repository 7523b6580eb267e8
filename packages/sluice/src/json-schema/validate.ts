/**
 * Validates values against a resolved schema. Closures over the schema are made once. No code is generated, so that
 * it works on workerd and under a page's content security policy.
 *
 * Steps are counted, so that no value takes long. After the first thousand steps the outcome of each referenced schema
 * is cached per value. Otherwise nested alternatives would be tested exponentially often.
 */

import type { ResolvedNode } from './keywords.ts'
import { mapSchemas } from './keywords.ts'
import type { SchemaIssue, SchemaTest, TestOutcome } from './outcome.ts'
import { failed, isPass, joinOutcomes, maxIssues, passed } from './outcome.ts'
import type { PatternSteps } from './pattern.ts'
import { maxPatternSteps } from './pattern.ts'
import type { ResolvedSchema } from './resolve-refs.ts'
import { toRule } from './rules.ts'

/** About 50 ms. */
const maxSteps = 500_000
const stepsBeforeCaching = 1_000
const none: ReadonlySet<never> = new Set()
const readBySiblings = new Set(['then', 'else', 'minContains', 'maxContains'])
const isLate = (keyword: string): boolean => keyword.startsWith('unevaluated')

/** Returns a validator, which returns `undefined` for a value that passes. */
export function toValidator(
  { root, schemas }: ResolvedSchema,
  format: 'check' | 'note' = 'check',
): (value: unknown) => readonly SchemaIssue[] | undefined {
  let steps = 0
  const patternSteps: PatternSteps = { remaining: 0 }
  const caches: Map<unknown, TestOutcome>[] = []
  const tests = new Map<string, SchemaTest>()
  const isTracking = JSON.stringify([...schemas.values()]).includes('"unevaluated')
  for (const [uri, schema] of schemas) tests.set(uri, cached(toTest(schema)))
  const test = toTest({ $ref: root })
  return function findIssues(value) {
    steps = 0
    patternSteps.remaining = maxPatternSteps
    try {
      const { issues } = test(value)
      if (issues.length === 0) return undefined
      // Without duplicates, because schemas joined by `allOf` often require the same thing.
      const distinct = new Map(issues.map((issue) => [JSON.stringify(issue), issue]))
      return [...distinct.values()].slice(0, maxIssues)
    } catch {
      // Out of steps or stack. A value that cannot be checked does not pass.
      return [{ message: 'is too large or too deep to be checked against this schema', path: [] }]
    } finally {
      if (steps > stepsBeforeCaching) for (const cache of caches) cache.clear()
    }
  }

  function cached(test: SchemaTest): SchemaTest {
    const cache = new Map<unknown, TestOutcome>()
    caches.push(cache)
    return (value) => {
      if (steps <= stepsBeforeCaching) return test(value)
      const outcome = cache.get(value) ?? test(value)
      cache.set(value, outcome)
      return outcome
    }
  }

  function toTest(schema: ResolvedNode): SchemaTest {
    if (schema === true) return () => passed
    const refused = failed('is not allowed')
    if (schema === false) return () => refused
    const { $ref } = schema
    if ($ref !== undefined) {
      let target: SchemaTest | undefined
      return (value) => {
        target ??= tests.get($ref)
        return target ? target(value) : refused
      }
    }
    const inner = mapSchemas(schema, toTest)
    const isRead = (keyword: string): boolean =>
      readBySiblings.has(keyword) || (keyword === 'format' && format === 'note')
    const keywords = Object.keys(inner).filter((keyword) => !isRead(keyword))
    const rulesOf = (isWanted: (keyword: string) => boolean) =>
      keywords.filter(isWanted).map((keyword) => toRule(keyword, inner, isTracking, patternSteps))
    const early = rulesOf((keyword) => !isLate(keyword))
    const late = rulesOf(isLate)
    return (value) => {
      steps += 1
      if (steps > maxSteps) throw new RangeError('Too many steps')
      let outcome = passed
      for (const rule of early) {
        outcome = joinOutcomes(outcome, rule(value, none))
        if (outcome.issues.length >= maxIssues) return outcome
      }
      if (late.length === 0 || !isPass(outcome)) return outcome
      // The remaining members are known only once everything else has passed.
      const seen = new Set(outcome.seen)
      for (const rule of late) outcome = joinOutcomes(outcome, rule(value, seen))
      return outcome
    }
  }
}
