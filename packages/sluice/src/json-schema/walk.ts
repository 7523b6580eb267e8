/**
 * Finds what is wrong with a value, and where; and decides alone where there is no compiled code.
 *
 * TypeBox reports problems by trying everything: a 400-byte value took it 6 s, 20,000 equal array items 2 s. The walk
 * remembers what it has seen, counts its steps, and stops when enough is told.
 */

import { Check } from 'typebox/schema'
import type { Keywords, Schema } from './keywords.ts'
import { mapSchemas } from './keywords.ts'
import type { Linked } from './link.ts'
import { ruleFor } from './rules.ts'
import { sayWhy } from './sentences.ts'
import type { Issue, Known, Test } from './visit.ts'
import { aside, every, fail, tell } from './visit.ts'

const maxSteps = 200_000

/** `undefined` for a value that passes. */
export function walk({ root, schemas }: Linked): (value: unknown) => readonly Issue[] | undefined {
  let tracks = false
  const tests = new Map<string, Test>()
  for (const [uri, schema] of schemas) tests.set(uri, toTest(schema))
  return function findIssues(value) {
    const issues: Issue[] = []
    const run = { left: maxSteps, known: new Map() }
    try {
      const passed = tests.get(root)?.(value, { path: undefined, issues, seen: tracks ? new Set() : undefined, run })
      return passed ? undefined : issues
    } catch {
      // Out of steps or out of stack. What cannot be checked does not pass.
      return [{ message: 'is too large or too deep to be checked against this schema', path: [] }]
    }
  }

  function toTest(schema: Schema): Test {
    if (schema === true) return () => true
    if (schema === false) return (_, at) => fail(at, 'is not allowed')
    if (schema.$ref !== undefined) return follow(schema.$ref)
    const parts = mapSchemas(schema, toTest)
    const rulesFor = (isMine: (keyword: string) => boolean): readonly Test[] =>
      Object.entries(parts).flatMap(([keyword, own]) => (isMine(keyword) ? toRule(keyword, own, parts) : []))
    const isLate = (keyword: string): boolean => keyword.startsWith('unevaluated')
    const early = rulesFor((keyword) => !isLate(keyword) && !readByOthers.has(keyword))
    const late = rulesFor(isLate)
    tracks ||= late.length > 0
    return function testSchema(value, at) {
      if (at.run.left-- <= 0) throw new RangeError('Too many steps')
      // What is left over is known only once everything else has passed.
      return every(early, at, (rule) => rule(value, at)) && every(late, at, (rule) => rule(value, at))
    }
  }

  function follow(uri: string): Test {
    return function followOnce(value, at) {
      const known = at.run.known.get(uri) ?? new Map<unknown, Known>()
      at.run.known.set(uri, known)
      let answer = known.get(value)
      // What was said of a string belongs to its place: equal ones may stand at two.
      const isHere = answer?.at.path === at.path || (typeof value === 'object' && value !== null)
      if (!answer || (!answer.passed && at.issues && !(answer.at.issues && isHere))) {
        const inner = aside(at, at.issues && [])
        answer = { passed: tests.get(uri)?.(value, inner) === true, at: inner }
        known.set(value, answer)
      }
      if (!answer.passed) return tell(at, answer.at.issues ?? [])
      for (const key of answer.at.seen ?? []) at.seen?.add(key)
      return true
    }
  }
}

const readByOthers = new Set(['then', 'else', 'minContains', 'maxContains'])

function toRule(keyword: string, own: unknown, parts: Keywords<Test>): Test {
  const rule = ruleFor(keyword)
  if (rule) return rule(own, parts)
  // Keywords that need no other are TypeBox's to judge, so that walk and code agree to the last digit.
  const alone = { [keyword]: own }
  const message = sayWhy(keyword, own)
  return (value, at) => Check(alone, value) || fail(at, message)
}
