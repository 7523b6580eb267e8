/**
 * 2026-07-28 over Streamable HTTP repeats parts of a request in headers, so that load balancers can route without
 * parsing: the method, the name it is aimed at, and the arguments a tool marked with `x-mcp-header`.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */

import type { Params } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import { toBase64 } from '../../core/seal.ts'
import { headerToken } from '../../protocol/schema.ts'

/** Which parameter `Mcp-Name` repeats, by method. */
const namedBy: { readonly [method: string]: string } = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

/** An argument of a tool that is repeated in a header. */
export interface MirroredArgument {
  /** The name from the schema. On the wire `Mcp-Param-` precedes it. */
  readonly header: string
  readonly path: readonly string[]
}

/** Returns the headers that repeat a request. */
export function mirrorHeaders(
  method: string,
  params: Params,
  headerParams: readonly MirroredArgument[] = [],
): { readonly [name: string]: string } {
  const headers: Record<string, string> = { 'mcp-method': method }
  const field = Object.hasOwn(namedBy, method) ? namedBy[method] : undefined
  const name = field === undefined ? undefined : params[field]
  if (typeof name === 'string') headers['mcp-name'] = toHeaderText(name)
  for (const { header, path } of headerParams) {
    const value = path.reduce<unknown>(
      (at, step) => (isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined),
      params['arguments'],
    )
    // A value of another type than the schema names is the server's to refuse; it has no header form.
    if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number')
      headers[`mcp-param-${header.toLowerCase()}`] = toHeaderText(String(value))
  }
  return headers
}

const plain = /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/
const sentinel = /^=\?base64\?.*\?=$/s

/** Encodes text that a header cannot carry: other characters, space at the ends, text that looks encoded. */
const toHeaderText = (text: string): string =>
  plain.test(text) && !sentinel.test(text) ? text : `=?base64?${toBase64(new TextEncoder().encode(text))}?=`

/**
 * Returns the marked arguments of a tool's input schema. Throws a sentence if a mark is invalid: such a tool must not be
 * used, because its calls cannot be mirrored.
 */
export function headerParamsOf(inputSchema: unknown): readonly MirroredArgument[] {
  const found: MirroredArgument[] = []
  collect(inputSchema, [], true, found, 0)
  const names = found.map(({ header }) => header.toLowerCase())
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new Error(`x-mcp-header "${twice}" is used twice`)
  return found
}

const maxSchemaDepth = 64

function collect(
  schema: unknown,
  path: readonly string[],
  reachable: boolean,
  found: MirroredArgument[],
  depth: number,
): void {
  if (depth > maxSchemaDepth) throw new Error('the input schema is nested too deeply')
  if (Array.isArray(schema)) {
    for (const item of schema) collect(item, path, false, found, depth + 1)
    return
  }
  if (!isObject(schema)) return
  const mark = schema['x-mcp-header']
  if (mark !== undefined && path.length > 0) found.push({ header: checkedMark(mark, schema, reachable), path })
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'properties' && isObject(value)) {
      for (const [name, property] of Object.entries(value))
        collect(property, [...path, name], reachable, found, depth + 1)
    } else if (nested.has(keyword)) collect(value, [...path, keyword], false, found, depth + 1)
    else if (maps.has(keyword) && isObject(value))
      for (const inner of Object.values(value)) collect(inner, [...path, keyword], false, found, depth + 1)
  }
}

/** Keywords that hold schemas; below them an argument has no single place, so marks are invalid there. */
const nested = new Set(
  'items,prefixItems,contains,additionalProperties,propertyNames,oneOf,anyOf,allOf,not,if,then,else'.split(','),
)
const maps = new Set(['$defs', 'definitions', 'patternProperties', 'dependentSchemas'])

function checkedMark(mark: unknown, { type }: Params, reachable: boolean): string {
  if (typeof mark !== 'string' || mark === '') throw new Error('x-mcp-header must be a non-empty string')
  if (!headerToken.test(mark)) throw new Error(`x-mcp-header ${JSON.stringify(mark)} is not a header name`)
  if (type !== 'string' && type !== 'integer' && type !== 'boolean')
    throw new Error(`x-mcp-header "${mark}" needs an argument of type string, integer or boolean`)
  if (!reachable) throw new Error(`x-mcp-header "${mark}" must be reachable through "properties" alone`)
  return mark
}
