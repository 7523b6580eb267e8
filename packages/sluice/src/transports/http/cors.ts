/** CORS headers, so that a browser lets a page of an allowed origin call the server and read the answers. */

import type { HttpHeaders, HttpRequest } from './message.ts'

export const corsHeaders = (origin: string): HttpHeaders => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': 'mcp-session-id, www-authenticate, retry-after',
  vary: 'origin',
})

const allowedHeaders: ReadonlySet<string> = new Set([
  ...['content-type', 'authorization', 'accept', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id'],
  ...['last-event-id', 'idempotency-key', 'x-tenant'],
])

/** Allows the headers that a page asks for one by one, because `Mcp-Param-*` names cannot be listed ahead. */
export function preflightHeaders(request: HttpRequest, methods: string): HttpHeaders {
  const requested = (request.header('access-control-request-headers') ?? '').toLowerCase().split(',')
  const granted = requested
    .map((name) => name.trim())
    .filter((name) => allowedHeaders.has(name) || /^mcp-param-[\w-]+$/.test(name))
  return {
    'access-control-allow-methods': methods,
    'access-control-allow-headers': granted.join(', '),
    'access-control-max-age': '600',
  }
}
