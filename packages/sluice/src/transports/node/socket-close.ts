/**
 * Tells when a connection of `node:http` is closed, whatever was read of it. Events of a request do not: one that was
 * destroyed before anybody listened emits nothing more, and a promise for it would never settle.
 */

import type { Socket } from 'node:net'

/** One listener per connection, however many requests it carries: Node warns of a leak past ten. */
const listeners = new WeakMap<Socket, Set<() => void>>()

/** Calls `then` once the connection is closed, at once if it is; the returned function forgets it. */
export function onSocketClose(socket: Socket, then: () => void): () => void {
  if (socket.destroyed) {
    then()
    return noop
  }
  const all = listeners.get(socket) ?? listenTo(socket)
  all.add(then)
  return () => {
    all.delete(then)
  }
}

function listenTo(socket: Socket): Set<() => void> {
  const all = new Set<() => void>()
  listeners.set(socket, all)
  socket.once('close', () => {
    for (const then of [...all]) then()
  })
  return all
}

const noop = (): void => {}
