/**
 * Notices when a connection of `node:http` closes, however much of it was read. The events of a request are not enough.
 * One that was destroyed before a listener was added emits nothing more, and a promise for it would never settle.
 */

import type { Socket } from 'node:net'
import { InFlight } from '../../core/in-flight.ts'

/** One listener per connection, however many requests it carries, because Node warns of a leak above ten. */
const listeners = new WeakMap<Socket, InFlight<() => void>>()

/** Calls `then` when the connection closes, or at once if it is closed. Returns a function that unsubscribes. */
export function onSocketClose(socket: Socket, then: () => void): () => void {
  if (socket.destroyed) {
    then()
    return noop
  }
  const all = listeners.get(socket) ?? listenTo(socket)
  const id = all.add(then)
  return () => all.delete(id)
}

function listenTo(socket: Socket): InFlight<() => void> {
  const all = new InFlight<() => void>()
  listeners.set(socket, all)
  socket.once('close', () => {
    for (const then of all) then()
  })
  return all
}

const noop = (): void => {}
