/**
 * 2026-07-28 over HTTP repeats parts of the message as headers, so that load balancers can route without parsing. A
 * header that differs from the body is refused, because two readers of one request must not see two requests.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */

import type { Via } from '../../core/call.ts'
import { RpcError } from '../../core/error.ts'
import type { Params } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import type { HeaderParam } from '../../core/target.ts'

/** The parameter that `Mcp-Name` repeats, by method. */
const nameParams: { readonly [method: string]: string } = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
}

const mismatch = (header: string, problem: string, cause?: unknown): RpcError =>
  new RpcError('headerMismatch', `Header mismatch: ${header} ${problem}`, { data: { header }, cause })

/**
 * Returns a header. It is required on Streamable HTTP. On HTTP+SSE it is optional, because its clients were never told
 * to send it. Only HTTP+SSE has a connection in this revision.
 */
function requiredHeader(via: Via, name: string): string | undefined {
  const header = via.header(name.toLowerCase())
  if (header === undefined && !via.connection) throw mismatch(name, 'is missing')
  return header
}

/**
 * Compares a header that is never encoded. White space other than spaces and tabs is not removed, because a router that
 * reads the header sees it.
 */
function checkPlainHeader(via: Via, name: string, value: unknown): void {
  const header = requiredHeader(via, name)
  if (header !== undefined && !(visible.test(header) && header.trim() === value))
    throw mismatch(name, 'differs from the body')
}

export const checkVersionHeader = (via: Via, version: unknown): void =>
  checkPlainHeader(via, 'MCP-Protocol-Version', version)

export function checkMethodHeaders(via: Via, method: string, params: Params): void {
  checkPlainHeader(via, 'Mcp-Method', method)
  const field = Object.hasOwn(nameParams, method) ? nameParams[method] : undefined
  if (field !== undefined) checkNameHeader(via, field, params[field])
}

/** `Mcp-Name` repeats one parameter, which depends on the method. */
export function checkNameHeader(via: Via, field: string, value: unknown): void {
  if (typeof value !== 'string') return
  const name = requiredHeader(via, 'Mcp-Name')
  if (name !== undefined && decode(name, 'Mcp-Name') !== value)
    throw mismatch('Mcp-Name', `differs from params.${field}`)
}

/**
 * Checks the `Mcp-Param-*` headers. Runs after authorization, because not every caller may learn the names of a tool's
 * arguments.
 */
export function checkParamHeaders(via: Via, params: readonly HeaderParam[], args: unknown): void {
  for (const { header: name, path } of params) {
    const value = path.reduce<unknown>(
      (at, step) => (isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined),
      args,
    )
    const header = via.header(name)
    const hasValue = value !== undefined && value !== null
    // A header without an argument is refused too, because a router that reads the header would see another call.
    if (header === undefined && (!hasValue || via.connection)) continue
    if (header === undefined) throw mismatch(name, 'is missing')
    const decoded = decode(header, name)
    const same =
      hasValue &&
      (typeof value === 'number' ? decimal.test(decoded) && Number(decoded) === value : decoded === String(value))
    if (!same) throw mismatch(name, `differs from the argument ${path.join('.')}`)
  }
}

/** Accepts decimal numbers only. `42.0` is 42, but `0x2a` is a number to JavaScript and text to others. */
const decimal = /^-?\d+(\.\d+)?$/
const visible = /^[\t -~]*$/
const sentinel = '=?base64?'

/**
 * Decodes a header value. Values outside visible ASCII are sent as `=?base64?…?=`. A value that lacks either end is
 * literal.
 */
function decode(raw: string, header: string): string {
  if (!visible.test(raw)) throw mismatch(header, 'has characters that must be encoded')
  // Removes spaces and tabs only: the line above refused all other white space.
  const value = raw.trim()
  if (!value.startsWith(sentinel) || !value.endsWith('?=') || value.length < sentinel.length + 2) return value
  const inner = value.slice(sentinel.length, -2)
  try {
    const binary = atob(inner)
    // `atob` accepts missing padding and white space; the header rule does not.
    if (btoa(binary) !== inner) throw new Error()
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Uint8Array.from(binary, (char) => char.charCodeAt(0)),
    )
  } catch (cause) {
    throw mismatch(header, 'is not valid base64', cause)
  }
}
