/** Another way in beside the endpoint: its paths, and who serves them. Made of what it shares with the endpoint. */

import { RpcError } from '../../core/error.ts'
import { preflightHeaders } from './cors.ts'
import type { EndpointContext } from './endpoint.ts'
import type { HttpHeaders, HttpReply, HttpRequest } from './message.ts'
import { noHeaders } from './message.ts'

/** Never rejects. */
export type RequestHandler = (request: HttpRequest, reply: HttpReply) => Promise<void>
/** By path, as in `/sse`: where the server is mounted comes before it. */
export type RouteFactory = (around: EndpointContext) => ReadonlyMap<string, RequestHandler>

/** Host, Origin and method are checked before `handle` is asked; what it throws is the refusal. */
export const createRoute =
  (
    method: 'GET' | 'POST',
    { check, refuse }: EndpointContext,
    handle: (request: HttpRequest, reply: HttpReply, headers: HttpHeaders) => Promise<void>,
  ): RequestHandler =>
  async (request, reply) => {
    let headers = noHeaders
    try {
      headers = check(request)
      if (request.method === method) await handle(request, reply, headers)
      else if (request.method === 'OPTIONS' && headers !== noHeaders)
        reply.send(204, { ...headers, ...preflightHeaders(request, method) })
      else {
        headers = { ...headers, allow: method }
        throw new RpcError('methodNotAllowed', `${request.method.slice(0, 16)} is not served here; use ${method}`)
      }
    } catch (thrown) {
      refuse(thrown, request, reply, headers)
    }
  }
