/**
 * The arguments that Sluice adds to a tool's schema if the tool opts in: `format`, `approval_request_id`, `approved`.
 */

import type { Params } from './json.ts'
import { isObject } from './json.ts'

/** Passed to the tool as a value, so that tools without reserved arguments do not load this code. */
export interface ReservedArguments {
  /** Returns the tool's schema with the reserved arguments. Throws if the tool has an argument of the same name. */
  extend(schema: Params, where: string): Params
  /** Returns the arguments for the tool's own schema. */
  without(args: unknown): unknown
}

/** Keywords that can name further properties of the same object, or forbid them. */
const composingKeywords = [
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'then',
  'else',
  'not',
  'dependentSchemas',
  '$ref',
  '$dynamicRef',
]

/**
 * Defines reserved arguments. `what` is the option that adds them and `added` has their schemas by name. An `alias` is
 * accepted but not listed.
 */
export function reservedArguments(
  what: string,
  added: { readonly [name: string]: Params },
  alias: readonly string[] = [],
): ReservedArguments {
  const names: ReadonlySet<string> = new Set([...Object.keys(added), ...alias])
  return {
    extend(schema, where) {
      const properties = isObject(schema['properties']) ? schema['properties'] : {}
      for (const name of names)
        if (Object.hasOwn(properties, name))
          throw new TypeError(`${where}: "${name}" is reserved by ${what}; rename the tool's own argument`)
      const composed = composingKeywords.find((keyword) => keyword in schema)
      if (composed !== undefined)
        throw new TypeError(
          `${where}: ${what} needs the properties at the root of the schema; do not put them behind "${composed}"`,
        )
      return { ...schema, properties: { ...properties, ...added } }
    },
    without: (args) =>
      isObject(args) ? Object.fromEntries(Object.entries(args).filter(([name]) => !names.has(name))) : args,
  }
}
