/**
 * Sessions of the revisions before 2026-07-28: a connection per `Mcp-Session-Id`, and its streams.
 *
 * An id is unguessable, and still no credential: it says which session, never who.
 */

import type { Connection } from '../../core/connection.ts'
import { RpcError } from '../../core/error.ts'
import type { Server } from '../../protocol/server.ts'
import type { Resumable } from './events.ts'
import { createResumable, parseEventId } from './events.ts'

export interface Session {
  readonly id: string
  readonly connection: Connection
  /** A stream for one call. */
  open(): Resumable
  /** The stream for what belongs to no call. */
  readonly standing: Resumable
  /** The stream an event id belongs to, and where to go on. */
  find(eventId: string): { readonly stream: Resumable; readonly after: number } | undefined
}

/** The way a session is used by: an id of one is unknown on the other, whose policies may differ. */
export type Route = 'mcp' | 'sse'

export interface SessionsOptions {
  /** Without a word from the client for this long, a session is over. */
  readonly idleMs: number
  readonly max: number
}

export interface Sessions {
  /** Not found by its id until `keep`: a handshake that fails leaves nothing behind. */
  create(route?: Route): Session
  keep(session: Session): void
  /** Only looks: it neither refuses nor counts as a word from the client. */
  has(id: string): boolean
  /** Throws `sessionMissing` or `sessionNotFound`. */
  get(id: string | undefined, route?: Route): Session
  end(session: Session): void
  close(): void
  readonly size: number
}

/** Characters of past events kept per stream, and streams per session. */
const maxStreamSize = 256 * 1024
const maxStreams = 64

interface Kept {
  readonly session: Session
  until: number
}

export function createSessions(server: Server, { idleMs, max }: SessionsOptions): Sessions {
  const kept = new Map<string, Kept>()
  let callOff: (() => void) | undefined
  const sweepLater = (): void => {
    callOff ??= server.clock.after(Math.min(idleMs, 60_000), sweep)
  }
  function sweep(): void {
    callOff = undefined
    for (const { session, until } of kept.values())
      if (until <= server.clock.now() && session.connection.inFlight.size === 0) end(session)
    if (kept.size > 0) sweepLater()
  }
  function end(session: Session): void {
    kept.delete(session.id)
    session.connection.close()
    session.standing.finish()
  }
  /** A flood of handshakes pushes out the sessions that were silent longest, never one with a call under way. */
  function makeRoom(newcomer: Session): void {
    if (kept.size < max) return
    const idle = [...kept.values()].find(({ session }) => session.connection.inFlight.size === 0)
    if (idle) end(idle.session)
    else {
      // Nobody would ever find it to end it.
      newcomer.connection.close()
      throw new RpcError('overloaded', 'Too many sessions are open: try again later', { data: { retryAfterMs: 1000 } })
    }
  }
  return {
    create: (route = 'mcp') => createSession(server, toId(route)),
    keep(session) {
      makeRoom(session)
      kept.set(session.id, { session, until: server.clock.now() + idleMs })
      sweepLater()
    },
    has: (id) => kept.has(id),
    get(id, route = 'mcp') {
      if (id === undefined && route === 'sse')
        throw new RpcError('sessionMissing', 'sessionId is missing: send messages to the address in the endpoint event')
      if (id === undefined)
        throw new RpcError('sessionMissing', 'Mcp-Session-Id is missing: send initialize first, or use 2026-07-28')
      const entry = routeOf(id) === route ? kept.get(id) : undefined
      if (!entry) throw new RpcError('sessionNotFound', 'Session not found: send initialize again')
      entry.until = server.clock.now() + idleMs
      // The map's order is the order of last use.
      kept.delete(id)
      kept.set(id, entry)
      return entry.session
    },
    end,
    close() {
      callOff?.()
      for (const { session } of [...kept.values()]) end(session)
    },
    get size() {
      return kept.size
    },
  }
}

const toId = (route: Route): string => (route === 'sse' ? `sse-${randomId(16)}` : randomId(16))
const routeOf = (id: string): Route => (id.startsWith('sse-') ? 'sse' : 'mcp')

function createSession(server: Server, id: string): Session {
  const streams = new Map<string, Resumable>()
  let primed = false
  const remember = (stream: Resumable): Resumable => {
    streams.set(stream.id, stream)
    for (const [oldest, { finished }] of streams) if (streams.size > maxStreams && finished) streams.delete(oldest)
    return stream
  }
  const standing = createResumable(randomId(6), false, maxStreamSize)
  remember(standing)
  const connection = server.connect({ id, send: (message) => standing.write(JSON.stringify(message)) })
  return {
    id,
    connection,
    standing,
    open() {
      primed = connection.agreed?.revision === '2025-11-25'
      return remember(createResumable(randomId(6), primed, maxStreamSize))
    },
    find(eventId) {
      const place = parseEventId(eventId)
      const stream = place && streams.get(place.stream)
      return stream && { stream, after: place.after }
    },
  }
}

const randomId = (bytes: number): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, '0')).join('')
