/**
 * Routes of another transport beside the endpoint: its paths and their handlers, created from the endpoint's context.
 */

import { RpcError } from '../../core/error.ts'
import { preflightHeaders } from './cors.ts'
import type { EndpointContext } from './endpoint.ts'
import type { HttpHeaders, HttpReply, HttpRequest } from './message.ts'
import { noHeaders } from './message.ts'

/** Never rejects. */
export type RequestHandler = (request: HttpRequest, reply: HttpReply) => Promise<void>
/** Creates handlers by path, such as `/sse`, below the path that the server is mounted at. */
export type RouteFactory = (context: EndpointContext) => ReadonlyMap<string, RequestHandler>

/** Checks Host, Origin and method before it calls `handle`. An error that `handle` throws is the refusal. */
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
        throw new RpcError('methodNotAllowed', `Method not allowed: use ${method}`)
      }
    } catch (thrown) {
      refuse(thrown, request, reply, headers)
    }
  }
