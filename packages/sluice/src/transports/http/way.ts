/** Another way in beside the endpoint: its paths, and who serves them. Made of what it shares with the endpoint. */

import { RpcError } from '../../core/error.ts'
import { preflight } from './cors.ts'
import type { Around } from './exchange.ts'
import type { HttpHeaders, HttpReply, HttpRequest } from './message.ts'
import { noHeaders } from './message.ts'

/** Never rejects. */
export type Serve = (request: HttpRequest, reply: HttpReply) => Promise<void>
/** By path, as in `/sse`: where the server is mounted comes before it. */
export type Way = (around: Around) => ReadonlyMap<string, Serve>

/** Host, Origin and method are checked before `handle` is asked; what it throws is the refusal. */
export const serveOnly =
  (
    method: 'GET' | 'POST',
    { check, refuse }: Around,
    handle: (request: HttpRequest, reply: HttpReply, headers: HttpHeaders) => Promise<void>,
  ): Serve =>
  async (request, reply) => {
    let headers = noHeaders
    try {
      headers = check(request)
      if (request.method === method) await handle(request, reply, headers)
      else if (request.method === 'OPTIONS' && headers !== noHeaders)
        reply.end(204, { ...headers, ...preflight(request, method) })
      else {
        headers = { ...headers, allow: method }
        throw new RpcError('methodNotAllowed', `${request.method.slice(0, 16)} is not served here; use ${method}`)
      }
    } catch (thrown) {
      refuse(thrown, request, reply, headers)
    }
  }
