/** Arguments of ours in a tool's schema, for tools that opt in: `format`, `approval_request_id`, `approved`. */

import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { OwnArguments } from '../core/target.ts'

/** Where a schema can name further properties of the same object, or forbid them. */
const inPlace = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'not', 'dependentSchemas', '$ref', '$dynamicRef']

/** The input schema with `added` in it. Fails where the tool's own argument would be taken away from it. */
export function withOwn(
  schema: Params,
  added: OwnArguments,
  { where, what, alias = [] }: { where: string; what: string; alias?: readonly string[] },
): Params {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  for (const name of [...Object.keys(added), ...alias])
    if (Object.hasOwn(properties, name))
      throw new TypeError(`${where}: "${name}" is what ${what} adds; rename the tool's own argument`)
  const composed = inPlace.find((keyword) => keyword in schema)
  if (composed !== undefined)
    throw new TypeError(`${where}: ${what} needs the properties at the root of the schema, not behind ${composed}`)
  return { ...schema, properties: { ...properties, ...added } }
}

/** What is left for the tool's own schema. */
export const withoutOwn = (args: unknown, own: OwnArguments): unknown =>
  isObject(args) ? Object.fromEntries(Object.entries(args).filter(([name]) => !Object.hasOwn(own, name))) : args
