/**
 * Opens a connection: what outlives one message, such as a pipe, a socket or a legacy session. Apart from the server, so
 * that a worker whose requests stand alone does not carry it.
 */

import type { Connection, RemoteConnection } from '../core/connection.ts'
import { createConnection } from '../core/connection.ts'
import type { Server } from './server.ts'
import { toTransportServer } from './server.ts'

export interface ConnectOptions {
  readonly id?: string
  /** Sends what belongs to no call: changes of lists and resources, from the start. */
  readonly send?: (message: object) => void
  /** Where other processes serve the same connection. */
  readonly remote?: RemoteConnection | undefined
}

/** The caller closes the connection. */
export function connect(server: Server, { id = crypto.randomUUID(), remote, send }: ConnectOptions = {}): Connection {
  const transportServer = toTransportServer(server)
  const { clock, answerWithinMs } = transportServer
  const connection = createConnection({ id, clock, remote, answerWithinMs, onClose: () => detach() })
  const detach = transportServer.attach(connection, send)
  return connection
}
