/**
 * Before a WebSocket is one: Host, Origin, subprotocol, load and credentials, in that order. A page of any site can open
 * a socket to any other, cookies and all, and no browser asks first; so whatever is wrong is refused as plain HTTP.
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
 * A second subprotocol may carry the token: browsers let a page choose nothing else about a socket. It is never the one
 * that is agreed on, so it does not come back.
 */
export const tokenPrefix = 'mcp.bearer.'

/** Somebody who may come in, and has not yet. */
export interface PendingSocket {
  readonly via: Via & { readonly connection: Connection }
  /** Stopped when the credential ends; whoever ends the socket stops it. */
  readonly stop: Stop
  /** What the connection sends goes here, once there is a socket. */
  send: (message: object) => void
}

/** Throws what to refuse the upgrade with. */
export async function acceptUpgrade(around: EndpointContext, request: HttpRequest): Promise<PendingSocket> {
  const { server, admissionControl, check } = around
  check(request)
  if (request.header('sec-websocket-version') !== '13')
    throw new RpcError('invalidRequest', 'Sec-WebSocket-Version must be 13')
  const offered = (request.header('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim())
  if (!offered.includes(subprotocol))
    throw new RpcError('invalidRequest', `Offer the WebSocket subprotocol "${subprotocol}"`)
  if (admissionControl) await admitOrThrow(admissionControl, request)
  const token = offered.find((name) => name.startsWith(tokenPrefix))?.slice(tokenPrefix.length)
  const header = (name: string): string | undefined =>
    request.header(name) ?? (token !== undefined && name === 'authorization' ? `Bearer ${token}` : undefined)
  const connection = connect(server, { send: (message) => guest.send(message) })
  const guest: PendingSocket = {
    via: { transport: 'websocket', peer: request.peer, header, connection },
    stop: createStop(),
    send() {},
  }
  try {
    await server.authorizeConnection(guest.via, guest.stop)
  } catch (thrown) {
    connection.close()
    throw thrown
  }
  return guest
}

/** A page, or a client that forgot to, asks plainly for what is a socket. */
export const upgradeRequired = (around: EndpointContext): RequestHandler =>
  createRoute('GET', around, async (_, reply, headers) =>
    reply.send(426, { ...headers, upgrade: 'websocket', connection: 'upgrade' }, 'A WebSocket is served here\n'),
  )
