/**
 * Says yes quickly: TypeBox makes code of the schema, where code may be generated.
 *
 * Left alone that code needs 2ⁿ steps for n levels of `anyOf` around a recursive `$ref`, so steps are counted, and past
 * a limit the walk takes over. The walk also takes what the code would read differently.
 */

import { Compile } from 'typebox/schema'
import type { Linked } from './link.ts'

const maxSteps = 100_000

/**
 * Compiled code finds inherited names in every object, cannot bound the names it matches with patterns, triples with
 * every nested `minContains`, and takes an array's items for properties where `unevaluatedProperties` is about.
 */
const misread = 'patternProperties minContains maxContains unevaluatedItems unevaluatedProperties'.split(' ')
const inherited = Object.getOwnPropertyNames(Object.prototype)

/** True, false, or `undefined` where only the walk can tell. */
export function compile({ root, schemas }: Linked): (value: unknown) => boolean | undefined {
  let left = 0
  function check(): true {
    if (left-- <= 0) throw new RangeError('Too many steps')
    return true
  }
  // Stands before whatever is pointed to: without references, work is bounded by the size of the schema and the value.
  const counter = { '~refine': [{ check, error: () => '' }] }
  const context = Object.fromEntries([...schemas].map(([uri, schema]) => [uri, { allOf: [counter, schema] }]))
  // Anywhere, also as a value: the walk is slower, never wrong.
  const text = JSON.stringify([...schemas.values()])
  const isMisread = [...misread, ...inherited].some((name) => text.includes(`"${name}"`))
  const compiled = isMisread ? undefined : attempt(() => Compile(context, schemas.get(root) ?? false))
  // TypeBox tries `new Function` once and remembers the answer. On workerd it may work while modules load and throw
  // during a request, so a refusal counts both when it is foreseen and when it comes.
  if (!compiled?.IsAccelerated()) return () => undefined
  return (value) => {
    left = maxSteps
    return attempt(() => compiled.Check(value))
  }
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
