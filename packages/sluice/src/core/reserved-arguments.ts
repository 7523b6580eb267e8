/** Arguments of ours in a tool's schema, for tools that opt in: `format`, `approval_request_id`, `approved`. */

import type { Params } from './json.ts'
import { isObject } from './json.ts'

/** Handed to the tool made, so that tools without any carry nothing of this. */
export interface ReservedArguments {
  /** The tool's schema with ours in it. Fails where the tool's own argument would be taken away from it. */
  extend(schema: Params, where: string): Params
  /** What is left for the tool's own schema. */
  without(args: unknown): unknown
}

/** Where a schema can name further properties of the same object, or forbid them. */
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

/** `what` is the option they come with; `added` are their schemas by name; an `alias` is taken, and not shown. */
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
          throw new TypeError(`${where}: "${name}" is what ${what} adds; rename the tool's own argument`)
      const composed = composingKeywords.find((keyword) => keyword in schema)
      if (composed !== undefined)
        throw new TypeError(`${where}: ${what} needs the properties at the root of the schema, not behind ${composed}`)
      return { ...schema, properties: { ...properties, ...added } }
    },
    without: (args) =>
      isObject(args) ? Object.fromEntries(Object.entries(args).filter(([name]) => !names.has(name))) : args,
  }
}
