/** Serves the API over HTTP: authentication, routing, sign-in and sign-out, and the event stream. */

import type { ServerResponse } from 'node:http'
import { RpcError } from 'sluice'
import type { NodeRequest } from 'sluice/internal'
import { checkContentType, checkEncoding } from 'sluice/internal'
import type { Operator } from '../api/index.ts'
import { routes } from '../api/index.ts'
import { assertTenantVisible, exportAudit } from './audit.ts'
import type { AuthenticatedCaller, OperatorAuthenticator } from './authenticate-operator.ts'
import { refuseCrossOrigin } from './authenticate-operator.ts'
import type { ConsoleState } from './console-state.ts'
import { createEventStream } from './event-stream.ts'
import type { Handlers } from './handlers.ts'
import { sessionBody } from './handlers.ts'
import { findRoute, parseInput } from './input.ts'
import { openApi } from './openapi.ts'
import type { OperatorKeys } from './operators.ts'
import { headersFor, notFound, sendJson } from './reply.ts'
import type { SessionCookie } from './session-cookie.ts'
import type { ConsoleSessions } from './sessions.ts'

export interface ApiDeps {
  readonly consoleState: ConsoleState
  readonly handlers: Handlers
  readonly sessions: ConsoleSessions
  readonly operators: OperatorKeys
}

const maxBody = 64 * 1024
/** The maximum of unsent bytes. A client that stalls is then cut off. */
const maxUnsent = 1024 * 1024
const maxStreams = 100
/** The maximum of concurrent reads of a whole audit. Each works in slices, but the slices of many would add up. */
const maxScans = 2

export function createApi(
  { consoleState, handlers, sessions }: ApiDeps,
  cookies: SessionCookie,
  authenticate: OperatorAuthenticator,
): (request: NodeRequest, response: ServerResponse, path: string, query: URLSearchParams) => Promise<void> {
  let streams = 0
  let scans = 0

  /** Limits work that reads all records of a tenant. */
  async function scan<T>(operator: Operator, work: () => Promise<T>): Promise<T> {
    if (!operator.scopes.includes('audit:export')) throw missingScope('audit:export')
    if (scans >= maxScans)
      throw new RpcError('overloaded', 'Too many audit exports or checks are running: try again later', {
        data: { retryAfterMs: 5_000 },
      })
    scans++
    try {
      return await work()
    } finally {
      scans--
    }
  }

  async function signIn(request: NodeRequest, response: ServerResponse): Promise<void> {
    refuseCrossOrigin(request)
    const input = parseInput<'signIn'>({ name: 'signIn', pathParams: {} }, new URLSearchParams(), await bodyOf(request))
    // The previous session is closed, so that a person never continues a session that someone else began.
    const previous = cookies.read(request.header('cookie'))
    if (previous !== undefined) await sessions.close(previous)
    const { id, session } = await sessions.open(input, request.peer)
    consoleState.logger.info({
      event: 'console_sign_in',
      operator: session.operator.name,
      credential: session.credential,
      peer: request.peer,
    })
    sendJson(response, 200, sessionBody(consoleState, session), cookies.set(id))
  }
  async function signOut(request: NodeRequest, response: ServerResponse, caller: AuthenticatedCaller): Promise<void> {
    const id = cookies.read(request.header('cookie'))
    if (id !== undefined) await sessions.close(id)
    if (caller.cookie !== undefined) await sessions.close(sessionIdIn(caller.cookie))
    sendJson(response, 200, {}, cookies.clear)
  }
  function stream(response: ServerResponse, caller: AuthenticatedCaller, query: URLSearchParams): void {
    if (streams >= maxStreams) throw new RpcError('overloaded', 'Too many console pages are open: close some')
    const { live, ...filter } = Object.fromEntries(query)
    const input = parseInput<'getLive'>({ name: 'getLive', pathParams: {} }, new URLSearchParams(filter), undefined)
    const { tenants } = caller.operator
    // The page closed while its session was read. No further event would come, and the stream would count as open forever.
    if (response.destroyed) return
    response.writeHead(200, { ...headersFor(caller), 'content-type': 'text/event-stream' })
    streams++
    const stop = createEventStream({
      consoleState,
      clock: consoleState.clock,
      tenants,
      ...(live !== undefined && { live: { ...input, tenants } }),
      send(text) {
        if (response.writableLength > maxUnsent) response.destroy()
        return !response.destroyed && response.write(text)
      },
      isStillAllowed: caller.isStillValid,
      close: () => {
        response.end()
      },
    })
    response.on('close', () => {
      streams--
      stop()
    })
  }

  return async function api(request, response, path, query) {
    const { method } = request
    const found = findRoute(method, path)
    if (found !== 'other method' && found?.name === 'signIn') return signIn(request, response)
    const caller = await authenticate(request)
    if (method === 'GET' && path === '/api/openapi.json') return sendJson(response, 200, openApi(), caller.cookie)
    if (method === 'GET' && path === '/api/events') return stream(response, caller, query)
    if (method === 'GET' && path === '/api/audit/export') {
      const tenant = query.get('tenant') ?? ''
      assertTenantVisible(caller.operator, tenant)
      return scan(caller.operator, () => exportAudit(consoleState, tenant, response, headersFor(caller)))
    }
    if (!found) throw notFound()
    if (found === 'other method')
      throw new RpcError('methodNotAllowed', 'Method not allowed: /api/openapi.json lists the methods of each path')
    const { name } = found
    if (name === 'signIn') return
    if (name === 'signOut') return signOut(request, response, caller)
    const route = routes[name]
    const { scopes } = caller.operator
    if ('needs' in route && !scopes.some((scope) => scope === route.needs)) throw missingScope(route.needs)
    const body = method === 'POST' ? await bodyOf(request) : undefined
    const input = parseInput(found, query, body)
    const run = (): Promise<unknown> => handlers.run(name, input, caller)
    const answer = await (name === 'verifyAudit' ? scan(caller.operator, run) : run())
    sendJson(response, 200, answer, caller.cookie)
  }
}

const missingScope = (scope: string): RpcError => new RpcError('forbidden', `This needs the scope ${scope}`)

async function bodyOf(request: NodeRequest): Promise<unknown> {
  checkContentType(request.header('content-type'))
  checkEncoding(request.header('content-encoding'))
  const text = await request.body(maxBody)
  try {
    return JSON.parse(text)
  } catch {
    throw new RpcError('parseError', 'The body is not JSON')
  }
}

const sessionIdIn = (cookie: string): string => cookie.slice(cookie.indexOf('=') + 1, cookie.indexOf(';'))
