/**
 * Sessions of the revisions before 2026-07-28: a connection per `Mcp-Session-Id`, and its streams.
 *
 * An id is unguessable, and still no credential: it says which session, never who. Where processes share a store, a
 * session is any process's (`shared-sessions.ts`), and this table holds those that were used here.
 */

import type { Connection } from '../../core/connection.ts'
import { RpcError } from '../../core/error.ts'
import type { Id } from '../../core/json.ts'
import { sha256 } from '../../core/sha256.ts'
import type { Server } from '../../protocol/server.ts'
import type { Resumable, Sink } from './events.ts'
import { createResumable, parseEventId, Standing } from './events.ts'
import type { Here, SharedSession, SharedSessions, sharedSessions } from './shared-sessions.ts'

export interface Session {
  readonly id: string
  readonly connection: Connection
  /** A stream for one call. */
  open(call: Id | undefined): Resumable
  /**
   * Goes on with the stream that an event id belongs to, or with the one for what belongs to no call. False if there is
   * no such stream, or no longer; `sink` is called only if there is.
   */
  resume(sink: () => Sink, eventId?: string): boolean | Promise<boolean>
  /** The stream for what belongs to no call is this one from now on. */
  attach(sink: Sink): void
  /** On the stream for what belongs to no call, on whatever process that is: where there is no other (2024-11-05). */
  say(text: string): void
  /** Whether the reader of its one stream is so far behind that logs and progress are dropped. */
  readonly behind: boolean
  /** Something of it goes on here: a call, or a stream somebody listens to. */
  readonly busy: boolean
  /** Nobody is at the other end of this one any more. */
  left(sink: Sink): void
  /** The stream for what belongs to no call ends; its client is told to come back. */
  detach(): void
  /** Its streams end. */
  letGo(): void
  readonly shared: SharedSession | undefined
}

/** The way a session is used by: an id of one is unknown on the other, whose policies may differ. */
export type Route = 'mcp' | 'sse'

export interface SessionsOptions {
  /** Without a word from the client for this long, a session is over. */
  readonly idleMs: number
  readonly max: number
  /** How processes share sessions. Left out, they do not. */
  readonly share?: typeof sharedSessions | undefined
}

export interface Sessions {
  /** Not found by its id until `keep`: a handshake that fails leaves nothing behind. */
  create(route?: Route): Session
  keep(session: Session): void | Promise<void>
  /** Only looks: it neither refuses nor counts as a word from the client. */
  has(id: string): boolean
  /** Throws `sessionMissing` or `sessionNotFound`. */
  get(id: string | undefined, route?: Route): Session | Promise<Session>
  /** After a call that may have changed what the session is. */
  save(session: Session): void | Promise<void>
  end(session: Session): void | Promise<void>
  /** Streams that only wait end: their clients come back, to another process. */
  letGo(): void
  /** Ends what is here. Sessions that are shared go on elsewhere. */
  close(): Promise<void>
  readonly size: number
}

/** Characters of past events kept per stream, and streams per session. */
const maxStreamSize = 256 * 1024
const maxStreams = 64

interface Kept {
  readonly session: Session
  until: number
}

const notFound = (): RpcError => new RpcError('sessionNotFound', 'Session not found: send initialize again')

export function createSessions(server: Server, { idleMs, max, share }: SessionsOptions): Sessions {
  const { clock, logger } = server
  const shared = server.shared && share?.(server.shared, { clock, logger, idleMs, max })
  const kept = new Map<string, Kept>()
  const openings = new Map<string, Promise<Session>>()
  let callOff: (() => void) | undefined
  const sweepLater = (): void => {
    callOff ??= clock.after(Math.min(idleMs, 60_000), sweep)
  }
  function sweep(): void {
    callOff = undefined
    for (const { session, until } of kept.values()) if (until <= clock.now() && !session.busy) drop(session)
    if (kept.size > 0) sweepLater()
  }
  function drop(session: Session): void {
    kept.delete(session.id)
    session.shared?.leave()
    session.connection.close()
    session.letGo()
  }
  /** A flood of handshakes pushes out the sessions that were silent longest, never one with a call under way. */
  function makeRoom(newcomer: Session): void {
    if (kept.size < max) return
    const idle = [...kept.values()].find(({ session }) => session.connection.inFlight.size === 0)
    if (idle) drop(idle.session)
    else {
      // Nobody would ever find it to end it.
      newcomer.connection.close()
      throw new RpcError('overloaded', 'Too many sessions are open: try again later', { data: { retryAfterMs: 1000 } })
    }
  }
  function put(session: Session): void {
    makeRoom(session)
    kept.set(session.id, { session, until: clock.now() + idleMs })
    sweepLater()
  }
  function touch(id: string): Session | undefined {
    const entry = kept.get(id)
    if (!entry) return undefined
    entry.until = clock.now() + idleMs
    // The map's order is the order of last use.
    kept.delete(id)
    kept.set(id, entry)
    return entry.session
  }
  const make = (id: string): Session => new OpenSession(server, id, shared, drop)
  /** Whatever this process knows of it, the store says whether it still is. */
  async function confirm(session: Session): Promise<Session> {
    if (await session.shared?.read()) return session
    drop(session)
    throw notFound()
  }
  async function reopen(id: string): Promise<Session> {
    const session = make(id)
    try {
      await confirm(session)
      put(session)
      return session
    } catch (thrown) {
      drop(session)
      throw thrown
    }
  }
  /** Once, however many messages come in together. */
  function open(id: string): Promise<Session> {
    const opening = openings.get(id) ?? reopen(id).finally(() => openings.delete(id))
    openings.set(id, opening)
    return opening
  }
  return {
    create: (route = 'mcp') => make(prefixes[route] + randomId(16)),
    keep(session) {
      if (!session.shared) return put(session)
      return session.shared.begin().then(
        () => put(session),
        (thrown: unknown) => {
          session.connection.close()
          throw thrown
        },
      )
    },
    has: (id) => kept.has(id) || (shared !== undefined && (isId(id, 'mcp') || isId(id, 'sse'))),
    get(id, route = 'mcp') {
      if (id === undefined && route === 'sse')
        throw new RpcError('sessionMissing', 'sessionId is missing: send messages to the address in the endpoint event')
      if (id === undefined)
        throw new RpcError('sessionMissing', 'Mcp-Session-Id is missing: send initialize first, or use 2026-07-28')
      if (!isId(id, route)) throw notFound()
      const session = touch(id)
      if (session) return shared ? confirm(session) : session
      if (shared) return open(id)
      throw notFound()
    },
    save: (session) => session.shared?.save(),
    end(session) {
      drop(session)
      return session.shared?.end()
    },
    letGo() {
      for (const { session } of kept.values()) session.detach()
    },
    async close() {
      callOff?.()
      if (shared) await shared.flush()
      for (const { session } of [...kept.values()]) drop(session)
      await shared?.close()
    },
    get size() {
      return kept.size
    },
  }
}

/** A class, because there may be thousands, most of which only wait. */
class OpenSession implements Session {
  readonly id: string
  readonly connection: Connection
  readonly shared: SharedSession | undefined
  readonly #standing: Standing
  #streams: Map<string, Resumable> | undefined = undefined

  constructor(server: Server, id: string, sharing: SharedSessions | undefined, over: (session: Session) => void) {
    this.id = id
    this.shared = sharing?.of(id, this.#here(over))
    const connection = server.connect({ id, elsewhere: this.shared })
    this.connection = connection
    this.shared?.bind(connection)
    // The same on every process, and nothing that tells the session's id.
    this.#standing = new Standing(sha256(`standing ${id}`).slice(0, 12), (say, after) =>
      server.hear(connection, (news, position) => say(JSON.stringify(news), position), after?.padStart(16, '0')),
    )
  }
  #here(over: (session: Session) => void): Here {
    const standing = (): Standing => this.#standing
    return {
      ended: () => over(this),
      get listening() {
        return standing().attached
      },
      mailed(text) {
        if (standing().attached) standing().write(text)
        return standing().attached
      },
      taken: (stream) => (stream === standing().id ? standing().letGo() : this.#streams?.get(stream)?.letGo()),
    }
  }
  open(call: Id | undefined): Resumable {
    const id = randomId(6)
    const primed = this.connection.agreed?.revision === '2025-11-25'
    const stream = createResumable(id, primed, maxStreamSize, this.shared?.log(id, call))
    this.#streams ??= new Map()
    const streams = this.#streams
    streams.set(id, stream)
    for (const [oldest, { finished }] of streams)
      if (streams.size > maxStreams && finished) {
        streams.get(oldest)?.drop()
        streams.delete(oldest)
      }
    return stream
  }
  resume(sink: () => Sink, eventId?: string): boolean | Promise<boolean> {
    const standing = this.#standing
    const place = eventId === undefined ? { stream: standing.id, after: undefined } : parseEventId(eventId)
    const stream = place && this.#streams?.get(place.stream)
    if (place?.stream === standing.id) standing.attach(sink(), place.after)
    else if (stream) stream.attach(sink(), Number(place.after))
    else return (place && this.shared?.follow(place.stream, Number(place.after), sink)) ?? false
    this.shared?.take(place.stream)
    return true
  }
  attach(sink: Sink): void {
    this.#standing.attach(sink)
  }
  get behind(): boolean {
    return this.#standing.behind
  }
  say(text: string): void {
    if (this.#standing.attached || !this.shared) this.#standing.write(text)
    else this.shared.mail(text)
  }
  get busy(): boolean {
    return this.connection.inFlight.size > 0 || this.#standing.attached
  }
  detach(): void {
    // Where it is the only stream, what is under way is still to be said on it.
    if (isId(this.id, 'mcp')) this.#standing.detach()
  }
  left(sink: Sink): void {
    this.#standing.left(sink)
  }
  letGo(): void {
    this.#standing.letGo()
    for (const stream of this.#streams?.values() ?? []) stream.letGo()
  }
}

const prefixes: { readonly [route in Route]: string } = { mcp: '', sse: 'sse-' }
const isId = (text: string, route: Route): boolean =>
  text.startsWith(prefixes[route]) && /^[0-9a-f]{32}$/.test(text.slice(prefixes[route].length))

const randomId = (bytes: number): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, '0')).join('')
