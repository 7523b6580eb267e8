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
import type { Around } from '../http/exchange.ts'
import { admit } from '../http/exchange.ts'
import type { HttpRequest } from '../http/message.ts'
import type { Serve } from '../http/way.ts'
import { serveOnly } from '../http/way.ts'

export const subprotocol = 'mcp'
/**
 * A second subprotocol may carry the token: browsers let a page choose nothing else about a socket. It is never the one
 * that is agreed on, so it does not come back.
 */
export const tokenPrefix = 'mcp.bearer.'

/** Somebody who may come in, and has not yet. */
export interface Guest {
  readonly via: Via & { readonly connection: Connection }
  /** Stopped when the credential ends; whoever ends the socket stops it. */
  readonly gone: Stop
  /** What the connection sends goes here, once there is a socket. */
  hear: (message: object) => void
}

/** Throws what to refuse the upgrade with. */
export async function welcome(around: Around, request: HttpRequest): Promise<Guest> {
  const { server, gate, check } = around
  check(request)
  if (request.header('sec-websocket-version') !== '13')
    throw new RpcError('invalidRequest', 'Sec-WebSocket-Version must be 13')
  const offered = (request.header('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim())
  if (!offered.includes(subprotocol))
    throw new RpcError('invalidRequest', `Offer the WebSocket subprotocol "${subprotocol}"`)
  if (gate) await admit(gate, request)
  const token = offered.find((name) => name.startsWith(tokenPrefix))?.slice(tokenPrefix.length)
  const header = (name: string): string | undefined =>
    request.header(name) ?? (token !== undefined && name === 'authorization' ? `Bearer ${token}` : undefined)
  const connection = connect(server, { send: (message) => guest.hear(message) })
  const guest: Guest = {
    via: { transport: 'websocket', peer: request.peer, header, connection },
    gone: createStop(),
    hear() {},
  }
  try {
    await server.admit(guest.via, guest.gone)
  } catch (thrown) {
    connection.close()
    throw thrown
  }
  return guest
}

/** A page, or a client that forgot to, asks plainly for what is a socket. */
export const upgradeRequired = (around: Around): Serve =>
  serveOnly('GET', around, async (_, reply, headers) =>
    reply.end(426, { ...headers, upgrade: 'websocket', connection: 'upgrade' }, 'A WebSocket is served here\n'),
  )
