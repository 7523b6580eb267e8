/**
 * Says yes quickly: TypeBox makes code of the schema, where code may be generated.
 *
 * Left alone that code needs 2ⁿ steps for n levels of `anyOf` around a recursive `$ref`, so steps are counted, and past
 * a limit the walk takes over. The walk also takes what the code would read differently.
 */

import { Compile } from 'typebox/schema'
import type { Schema } from './keywords.ts'
import { mapSchemas } from './keywords.ts'
import type { Linked } from './link.ts'
import { isLinear } from './patterns.ts'

const maxSteps = 100_000

/** True, false, or `undefined` where only the walk can tell. */
export function compile({ root, schemas }: Linked): (value: unknown) => boolean | undefined {
  const cannotTell = (): undefined => undefined
  if (![...schemas.values()].every(isFaithful)) return cannotTell
  let left = 0
  function count(): true {
    if (left-- <= 0) throw new RangeError('Too many steps')
    return true
  }
  // Stands before whatever is pointed to: without references, work is bounded by the size of the schema and the value.
  const counted = (schema: Schema): object => ({ allOf: [{ '~refine': [{ check: count, error: () => '' }] }, schema] })
  try {
    const context = Object.fromEntries([...schemas].map(([uri, schema]) => [uri, counted(schema)]))
    const compiled = Compile(context, schemas.get(root) ?? false)
    // TypeBox tries `new Function` once and remembers the answer. On workerd it may work while modules load and throw
    // during a request, so a refusal counts both when it is foreseen and when it comes.
    if (!compiled.IsAccelerated()) return cannotTell
    return function check(value) {
      left = maxSteps
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

/**
 * Compiled code finds inherited names such as `toString` in every object, cannot bound the names it matches, triples
 * with every nested `minContains`, and takes an array's items for properties where `unevaluatedProperties` is about.
 */
function isFaithful(schema: Schema): boolean {
  if (typeof schema === 'boolean') return true
  const {
    properties = {},
    patternProperties = {},
    dependentRequired = {},
    dependentSchemas = {},
    required = [],
  } = schema
  const named = [properties, dependentRequired, dependentSchemas].flatMap((one) => Object.keys(one))
  const mentioned = [...named, ...required, ...Object.values(dependentRequired).flat()]
  let faithful =
    !mentioned.some((name) => name in Object.prototype) &&
    Object.keys(patternProperties).every(isLinear) &&
    !['minContains', 'maxContains', 'unevaluatedItems', 'unevaluatedProperties'].some((keyword) => keyword in schema)
  mapSchemas(schema, (inner) => {
    faithful &&= isFaithful(inner)
  })
  return faithful
}
