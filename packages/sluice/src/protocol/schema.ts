/**
 * Converts Standard Schema to JSON Schema, with checks that make a bad definition fail when it is defined instead of
 * when it is called.
 */

import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { HeaderParam } from '../core/target.ts'

/** Any Standard Schema: Zod, ArkType, Valibot through `toStandardJsonSchema`, or `jsonSchema(…)`. */
export type Schema<Output = unknown> = StandardSchemaV1<unknown, Output>
export type InputOf<S extends Schema> = StandardSchemaV1.InferInput<S>
export type OutputOf<S extends Schema> = StandardSchemaV1.InferOutput<S>

const hasJsonSchema = (schema: Schema): schema is Schema & StandardJSONSchemaV1 => 'jsonSchema' in schema['~standard']

/** Converts a schema. `where` names the definition, for example `tool "deploy", input`. */
export function toJsonSchema(schema: Schema, direction: 'input' | 'output', where: string): Params {
  if ((!isObject(schema) && typeof schema !== 'function') || !('~standard' in schema))
    throw new TypeError(`${where}: expected a Standard Schema; wrap plain JSON Schema in jsonSchema(…)`)
  if (!hasJsonSchema(schema)) {
    const { vendor } = schema['~standard']
    const fix =
      vendor === 'valibot'
        ? 'wrap it in toStandardJsonSchema(…) from @valibot/to-json-schema'
        : 'use a version that implements Standard JSON Schema'
    throw new TypeError(`${where}: this ${vendor} schema has no JSON Schema; ${fix}`)
  }
  let json: Params
  try {
    json = schema['~standard'].jsonSchema[direction]({ target: 'draft-2020-12' })
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    const isOurs = schema['~standard'].vendor === 'sluice'
    throw new TypeError(
      `${where}: ${isOurs ? message : `the schema has no JSON Schema form (${message}); use types that JSON can hold`}`,
      { cause },
    )
  }
  assertUsable(json, where)
  return json
}

/** Converts the schema of arguments. Its root must be an object, because `arguments` is one on the wire. */
export function toObjectSchema(schema: Schema, where: string): Params {
  const json = toJsonSchema(schema, 'input', where)
  if (json['type'] !== 'object')
    throw new TypeError(
      `${where}: the schema must describe an object (its root says type ${JSON.stringify(json['type'])}); put the value into a property`,
    )
  return json
}

const maxNodes = 100_000
/** Deep enough for any hand-written schema, and far below a stack overflow in code that reads or prints it. */
const maxDepth = 500

/**
 * Throws if no client could use the schema. A `$ref` out of the document would have to be fetched by the validator, and
 * nothing is fetched.
 */
function assertUsable(root: unknown, where: string): void {
  let level = [root]
  for (let depth = 0, seen = 0; level.length > 0; depth++) {
    const below: unknown[] = []
    for (const node of level)
      for (const [key, value] of typeof node === 'object' && node !== null ? Object.entries(node) : []) {
        if (++seen > maxNodes || depth > maxDepth)
          throw new TypeError(`${where}: the schema is too large or too deep; split the tool`)
        const foreign = (key === '$ref' || key === '$dynamicRef') && typeof value === 'string' && !value.startsWith('#')
        if (foreign) throw new TypeError(`${where}: $ref "${value}" points outside the schema; copy it into $defs`)
        below.push(value)
      }
    level = below
  }
}

/** RFC 9110 token: the characters of a header name. */
const headerToken = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/**
 * Returns the arguments marked `x-mcp-header`, checked by the rules of 2026-07-28. The name must be a token and unique
 * in any case. The argument must be a string, integer or boolean that is reached through `properties` alone.
 */
export function headerParams(root: unknown, where: string): readonly HeaderParam[] {
  const found: HeaderParam[] = []
  const walk = (node: unknown, path: readonly string[], reachable: boolean): void => {
    if (Array.isArray(node)) for (const item of node) walk(item, path, false)
    if (!isObject(node)) return
    const name = node['x-mcp-header']
    if (name !== undefined) {
      const at = `${where}: x-mcp-header at "${path.join('.')}"`
      if (typeof name !== 'string' || !headerToken.test(name))
        throw new TypeError(`${at} must be a header name: letters, digits and -`)
      if (!reachable || path.length === 0)
        throw new TypeError(`${at} must be reached through properties only, not through items, anyOf or $ref`)
      if (!['string', 'integer', 'boolean'].includes(String(node['type'])))
        throw new TypeError(`${at} must be on a string, an integer or a boolean`)
      const header = `mcp-param-${name.toLowerCase()}`
      if (found.some((other) => other.header === header)) throw new TypeError(`${at}: "${name}" is used twice`)
      found.push({ header, path })
    }
    for (const [key, value] of Object.entries(node)) {
      if (key === 'properties' && isObject(value))
        for (const [property, sub] of Object.entries(value)) walk(sub, [...path, property], reachable)
      else if (key !== 'enum' && key !== 'const' && key !== 'default' && key !== 'examples') walk(value, path, false)
    }
  }
  walk(root, [], true)
  return found
}
