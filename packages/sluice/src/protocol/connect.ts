/**
 * Opens a connection, which outlives one message: a pipe, a socket or a legacy session. It is separate from the server,
 * so that a worker without connections does not load this code.
 */

import type { Connection, RemoteConnection } from '../core/connection.ts'
import { createConnection } from '../core/connection.ts'
import { uniqueId } from '../core/unique-id.ts'
import type { Server } from './server.ts'
import { toTransportServer } from './server.ts'

export interface ConnectOptions {
  readonly id?: string
  /** Sends messages that belong to no call: changes of lists and resources, from the start. */
  readonly send?: (message: object) => void
  /** Set if other processes serve the same connection. */
  readonly remote?: RemoteConnection | undefined
}

/** Opens a connection. The caller closes it. */
export function connect(server: Server, { id = uniqueId(), remote, send }: ConnectOptions = {}): Connection {
  const transportServer = toTransportServer(server)
  const { clock, answerWithinMs } = transportServer
  const connection = createConnection({ id, clock, remote, answerWithinMs, onClose: () => detach() })
  const detach = transportServer.attach(connection, send)
  return connection
}
