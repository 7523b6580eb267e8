/**
 * 2026-07-28 over Streamable HTTP repeats parts of a request in headers, so that load balancers can route without
 * parsing: the method, the name it is aimed at, and the arguments a tool marked with `x-mcp-header`.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */

import type { Params } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import { toBase64 } from '../../core/seal.ts'
import type { HeaderParam } from '../../core/target.ts'

/** Which parameter `Mcp-Name` repeats, by method. */
const namedBy: { readonly [method: string]: string } = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

export function mirrorHeaders(
  method: string,
  params: Params,
  headerParams: readonly HeaderParam[],
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
      headers[header] = toHeaderText(String(value))
  }
  return headers
}

const plain = /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/
const sentinel = /^=\?base64\?.*\?=$/s

/** Encodes text that a header cannot carry: other characters, space at the ends, text that looks encoded. */
const toHeaderText = (text: string): string =>
  plain.test(text) && !sentinel.test(text) ? text : `=?base64?${toBase64(new TextEncoder().encode(text))}?=`
