/**
 * HTTP/1.1 pipelining: requests that a client sends before it has the answer to the last one. If they were served at
 * once, their answers would wait in memory behind the first. So each is served when the answer before it has been sent.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** How many requests of one connection may wait. A client that sends more does not wait for answers. */
const maxPipelined = 512

const pipelined = new WeakMap<Socket, number>()

/** Calls `serve` when this response is the next on its connection, and never if the connection closes before. */
export function whenResponseIsNext({ socket }: IncomingMessage, response: ServerResponse, serve: () => void): void {
  // Node gives a response its socket when the one before it is complete.
  if (response.socket !== null) {
    serve()
    return
  }
  const waiting = (pipelined.get(socket) ?? 0) + 1
  if (waiting > maxPipelined) {
    socket.destroy()
    return
  }
  pipelined.set(socket, waiting)
  response.once('socket', () => {
    pipelined.set(socket, (pipelined.get(socket) ?? 1) - 1)
    serve()
  })
}

/**
 * Closes the connection of an upgrade that was sent before the answer to the last request, and returns whether it did.
 * Node hands such a socket over at once. That answer would be written into the new protocol, and a refusal would throw.
 */
export function closeEarlyUpgrade(request: IncomingMessage, socket: Duplex): boolean {
  // Node's own field for the response that is being written.
  const { _httpMessage: current } = socket as Duplex & { readonly _httpMessage?: ServerResponse | null }
  if (!current || current.req === request) return false
  socket.destroy()
  return true
}
