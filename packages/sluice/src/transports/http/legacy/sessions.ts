/**
 * Sessions of the revisions before 2026-07-28: a connection per `Mcp-Session-Id`, and its streams.
 *
 * An id is unguessable and still not a credential: it says which session, never whose. Where processes share a store,
 * any of them serves any session (`shared-sessions.ts`), and these tables hold the sessions that were used here.
 *
 * Members are sessions with an owner, or all sessions where callers need not authenticate. Guests are the others: a
 * stranger's handshake. They have a small table of their own and a short life, so that they never cost a member its place.
 */

import type { Connection } from '../../../core/connection.ts'
import { RpcError } from '../../../core/error.ts'
import type { Id } from '../../../core/json.ts'
import { networkOf } from '../../../core/peer.ts'
import { sha256 } from '../../../core/sha256.ts'
import { connect } from '../../../protocol/connect.ts'
import type { Server } from '../../../protocol/server.ts'
import type { EventWriter } from '../events.ts'
import type { ReplayStream } from './replay-stream.ts'
import { parseEventId } from './replay-stream.ts'
import type { RetainedStreams, SessionStreams } from './retained-streams.ts'
import { createRetainedStreams } from './retained-streams.ts'
import { guestLimits } from './session-slots.ts'
import type { SessionTable } from './session-table.ts'
import { createSessionTable } from './session-table.ts'
import type { LocalSession, SharedSession, SharedSessions, sharedSessions } from './shared-sessions.ts'
import { StandaloneStream } from './standalone-stream.ts'

export interface Session {
  readonly id: string
  /** Where its first message came from, as far as networks are told apart. */
  readonly network: string
  readonly connection: Connection
  /** A stream for one call. */
  openStream(call: Id | undefined): ReplayStream
  /**
   * Goes on with the stream that an event id belongs to, or with the one for what belongs to no call. False if there is
   * no such stream, or no longer; `sink` is called only if there is.
   */
  resume(sink: () => EventWriter, eventId?: string): Promise<boolean>
  /** The stream for what belongs to no call is this one from now on. */
  attach(sink: EventWriter): void
  /** On the stream for what belongs to no call, on whatever process that is: where there is no other (2024-11-05). */
  send(text: string): void
  /** Whether the reader of its one stream is so far behind that logs and progress are dropped. */
  readonly behind: boolean
  /** Something of it goes on here: a call, or a stream somebody listens to. */
  readonly busy: boolean
  /** Nobody is at the other end of this one any more. */
  writerClosed(sink: EventWriter): void
  /** The stream for what belongs to no call ends; its client is told to come back. */
  detach(): void
  /** Its streams end. */
  close(): void
  readonly shared: SharedSession | undefined
}

/** The way a session is used by: an id of one is unknown on the other, whose policies may differ. */
export type SessionTransport = 'mcp' | 'sse'

export interface SessionsOptions {
  /** Without a word from the client for this long, a session is over. */
  readonly idleMs: number
  readonly max: number
  /** How processes share sessions. Left out, they do not. */
  readonly share?: typeof sharedSessions | undefined
}

export interface Sessions {
  /** Not found by its id until `register`: a handshake that fails leaves nothing behind. */
  create(peer: string, route?: SessionTransport): Session
  register(session: Session): Promise<void>
  /** Only looks: it neither refuses nor counts as a use. */
  has(id: string): boolean
  /** Rejects with `sessionMissing` or `sessionNotFound`. */
  get(id: string | undefined, route?: SessionTransport): Promise<Session>
  closeSession(session: Session): Promise<void>
  /** Streams that only wait end: their clients come back, to another process. */
  detach(): void
  /** Ends what is here. Sessions that are shared go on elsewhere. */
  close(): Promise<void>
  readonly size: number
}

const notFound = (): RpcError => new RpcError('sessionNotFound', 'Session not found: send initialize again')

export function createSessions(server: Server, { idleMs, max, share }: SessionsOptions): Sessions {
  const { clock, logger, authenticates } = server
  const shared = server.shared && share?.(server.shared, { clock, logger, idleMs, max, authenticates })
  const streams = createRetainedStreams(clock)
  const members = createSessionTable({ clock, max, idleMs, share: Math.ceil(max / 2), evict: drop })
  const guestMs = Math.min(idleMs, guestLimits.idleMs)
  const guests = createSessionTable({ clock, ...guestLimits, idleMs: guestMs, evict: drop })
  const tables: readonly SessionTable[] = [guests, members]
  const openings = new Map<string, Promise<Session>>()
  let cancelTimer: (() => void) | undefined
  const size = (): number => guests.size + members.size

  function sweepLater(): void {
    cancelTimer ??= clock.after(Math.min(guestMs, 60_000), () => {
      cancelTimer = undefined
      for (const table of tables) table.sweep()
      streams.sweep()
      if (size() > 0) sweepLater()
    })
  }
  function drop(session: Session): void {
    for (const table of tables) table.delete(session)
    session.shared?.release()
    session.connection.close()
    session.close()
  }
  function put(session: Session): void {
    const isGuest = authenticates && session.connection.state.owner === undefined
    try {
      ;(isGuest ? guests : members).add(session)
    } catch (thrown) {
      // No request would ever find it to end it.
      drop(session)
      throw thrown
    }
    sweepLater()
  }
  function touch(id: string): Session | undefined {
    const guest = guests.touch(id)
    if (guest?.connection.state.owner === undefined) return guest ?? members.touch(id)
    guests.delete(guest)
    put(guest)
    return guest
  }
  const make = (id: string, peer: string): Session =>
    new HttpSession(server, { id, network: networkOf(peer), sharing: shared, streams, onClosed: drop })
  /** Whatever this process knows of a shared session, the store says whether it still exists. */
  async function confirm(session: Session): Promise<Session> {
    if (!session.shared || (await session.shared.refresh())) return session
    drop(session)
    throw notFound()
  }
  async function reopen(id: string): Promise<Session> {
    const session = make(id, '')
    try {
      await confirm(session)
    } catch (thrown) {
      drop(session)
      throw thrown
    }
    put(session)
    return session
  }
  /** Once, however many messages come in together. */
  function open(id: string): Promise<Session> {
    const opening = openings.get(id) ?? reopen(id).finally(() => openings.delete(id))
    openings.set(id, opening)
    return opening
  }
  return {
    create: (peer, route = 'mcp') => make(idPrefixes[route] + randomId(16), peer),
    async register(session) {
      try {
        await session.shared?.register(session.network)
      } catch (thrown) {
        drop(session)
        throw thrown
      }
      put(session)
    },
    has: (id) =>
      tables.some((table) => table.has(id)) ||
      (shared !== undefined && (isSessionId(id, 'mcp') || isSessionId(id, 'sse'))),
    async get(id, route = 'mcp') {
      if (id === undefined && route === 'sse')
        throw new RpcError('sessionMissing', 'sessionId is missing: send messages to the address in the endpoint event')
      if (id === undefined)
        throw new RpcError('sessionMissing', 'Mcp-Session-Id is missing: send initialize first, or use 2026-07-28')
      if (!isSessionId(id, route)) throw notFound()
      const session = touch(id)
      if (session) return confirm(session)
      if (shared) return open(id)
      throw notFound()
    },
    async closeSession(session) {
      drop(session)
      await session.shared?.close()
    },
    detach() {
      for (const table of tables) for (const session of table.values()) session.detach()
    },
    async close() {
      cancelTimer?.()
      if (shared) await shared.flush()
      for (const table of tables) for (const session of table.values()) drop(session)
      await shared?.close()
    },
    get size() {
      return size()
    },
  }
}

interface HttpSessionOptions {
  readonly id: string
  readonly network: string
  readonly sharing: SharedSessions | undefined
  readonly streams: RetainedStreams
  /** Another process ended it. */
  onClosed(session: Session): void
}

/** A class, because there may be thousands, most of which only wait. */
class HttpSession implements Session {
  readonly id: string
  readonly network: string
  readonly connection: Connection
  readonly shared: SharedSession | undefined
  readonly #standalone: StandaloneStream
  readonly #retained: RetainedStreams
  #streams: SessionStreams | undefined = undefined

  constructor(server: Server, { id, network, sharing, streams, onClosed }: HttpSessionOptions) {
    this.id = id
    this.network = network
    this.#retained = streams
    this.shared = sharing?.open(id, this.#local(onClosed))
    const connection = connect(server, { id, remote: this.shared })
    this.connection = connection
    this.shared?.bind(connection)
    // The same on every process, and without a trace of the session's id.
    this.#standalone = new StandaloneStream(sha256(`standing ${id}`).slice(0, 12), (say, after) =>
      server.subscribe(connection, (news, position) => say(JSON.stringify(news), position), after?.padStart(16, '0')),
    )
  }
  #local(onClosed: (session: Session) => void): LocalSession {
    const standing = (): StandaloneStream => this.#standalone
    return {
      onClosed: () => onClosed(this),
      get listening() {
        return standing().attached
      },
      deliver(text) {
        if (standing().attached) standing().write(text)
        return standing().attached
      },
      onStreamTaken: (stream) =>
        stream === standing().id ? standing().release() : this.#streams?.get(stream)?.release(),
    }
  }
  openStream(call: Id | undefined): ReplayStream {
    const id = randomId(6)
    const primed = this.connection.state.agreed?.revision === '2025-11-25'
    this.#streams ??= this.#retained.forSession()
    return this.#streams.open(id, primed, this.shared?.openLog(id, call))
  }
  async resume(sink: () => EventWriter, eventId?: string): Promise<boolean> {
    const standing = this.#standalone
    const place = eventId === undefined ? { stream: standing.id, after: undefined } : parseEventId(eventId)
    if (!place) return false
    const stream = this.#streams?.get(place.stream)
    const after = Number(place.after)
    if (place.stream === standing.id) standing.attach(sink(), place.after)
    else if (stream?.canReplayFrom(after)) stream.attach(sink(), after)
    else if (stream) return false
    else return (await this.shared?.follow(place.stream, after, sink)) ?? false
    this.shared?.claimStream(place.stream)
    return true
  }
  attach(sink: EventWriter): void {
    this.#standalone.attach(sink)
  }
  get behind(): boolean {
    return this.#standalone.behind
  }
  send(text: string): void {
    if (this.#standalone.attached || !this.shared) this.#standalone.write(text)
    else this.shared.sendRemote(text)
  }
  get busy(): boolean {
    return this.connection.inFlight.size > 0 || this.#standalone.attached
  }
  detach(): void {
    // Where it is the only stream, what is under way is still to be said on it.
    if (isSessionId(this.id, 'mcp')) this.#standalone.detach()
  }
  writerClosed(sink: EventWriter): void {
    this.#standalone.writerClosed(sink)
  }
  close(): void {
    this.#standalone.release()
    this.#streams?.close()
  }
}

const idPrefixes: { readonly [route in SessionTransport]: string } = { mcp: '', sse: 'sse-' }
const isSessionId = (text: string, route: SessionTransport): boolean =>
  text.startsWith(idPrefixes[route]) && /^[0-9a-f]{32}$/.test(text.slice(idPrefixes[route].length))

const randomId = (bytes: number): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, '0')).join('')
