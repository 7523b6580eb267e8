/**
 * The checks before a WebSocket is opened: Host, Origin, subprotocol, load and credentials, in that order. A page of
 * any site can open a socket to any other, with cookies, without a preflight. So a failed check is refused as plain
 * HTTP.
 */

import type { Via } from '../../core/call.ts'
import type { Connection } from '../../core/connection.ts'
import { RpcError } from '../../core/error.ts'
import type { Stop } from '../../core/stop.ts'
import { createStop } from '../../core/stop.ts'
import { connect } from '../../protocol/connect.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { admitOrThrow } from '../http/endpoint.ts'
import type { HttpRequest } from '../http/message.ts'
import type { RequestHandler } from '../http/routes.ts'
import { createRoute } from '../http/routes.ts'

export const subprotocol = 'mcp'
/**
 * A second subprotocol may carry the token, because browsers let a page set nothing else of a socket. The server never
 * selects it, so the token is not sent back.
 */
export const tokenPrefix = 'mcp.bearer.'

/** An admitted client whose socket is not open yet. */
export interface PendingSocket {
  readonly via: Via & { readonly connection: Connection }
  /** Stops when the credential ends. The session stops it when the socket closes. */
  readonly stop: Stop
  /** Receives the messages of the connection. The session sets it when the socket is open. */
  send: (message: object) => void
}

export async function acceptUpgrade(context: EndpointContext, request: HttpRequest): Promise<PendingSocket> {
  const { server, admissionControl, check } = context
  check(request)
  if (request.header('sec-websocket-version') !== '13')
    throw new RpcError('invalidRequest', 'Sec-WebSocket-Version must be 13')
  const offered = (request.header('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim())
  if (!offered.includes(subprotocol))
    throw new RpcError('invalidRequest', `Offer the WebSocket subprotocol "${subprotocol}"`)
  if (admissionControl) await admitOrThrow(admissionControl, request)
  const token = offered.find((name) => name.startsWith(tokenPrefix))?.slice(tokenPrefix.length)
  /** Shows the token as a credential only, because layers hide that header from tools and from each other. */
  function header(name: string): string | undefined {
    const lower = name.toLowerCase()
    if (lower === 'sec-websocket-protocol') return undefined
    const bearer = token !== undefined && lower === 'authorization' ? `Bearer ${token}` : undefined
    return request.header(name) ?? bearer
  }
  const connection = connect(server, { send: (message) => pending.send(message) })
  const pending: PendingSocket = {
    via: { transport: 'websocket', peer: request.peer, header, connection },
    stop: createStop(),
    send() {},
  }
  try {
    await server.authorizeConnection(pending.via, pending.stop)
  } catch (thrown) {
    connection.close()
    throw thrown
  }
  return pending
}

/** Answers a plain request on the path of sockets. */
export const upgradeRequired = (context: EndpointContext): RequestHandler =>
  createRoute('GET', context, async (_, reply, headers) =>
    reply.send(
      426,
      { ...headers, upgrade: 'websocket', connection: 'upgrade' },
      'Upgrade required: this path serves WebSockets\n',
    ),
  )
