/**
 * Sessions of the revisions before 2026-07-28: a connection per `Mcp-Session-Id`, and its streams.
 *
 * An id is unguessable and still not a credential: it names a session, never its owner. Where processes share a store,
 * any of them serves any session (`shared-sessions.ts`), and these tables hold the sessions that were used here.
 *
 * Members are sessions with an owner, or all sessions where callers need not authenticate. All other sessions are
 * guests. Guests have a separate small table and a short life, so that a stranger's handshake never evicts a member.
 */

import type { Via } from '../../../core/call.ts'
import type { Connection } from '../../../core/connection.ts'
import { RpcError } from '../../../core/error.ts'
import type { Id } from '../../../core/json.ts'
import { networkOf } from '../../../core/peer.ts'
import { sha256 } from '../../../core/sha256.ts'
import { connect } from '../../../protocol/connect.ts'
import { featuresOf } from '../../../protocol/revisions.ts'
import type { TransportServer } from '../../../protocol/server.ts'
import type { EventWriter } from '../events.ts'
import type { HttpRequest } from '../message.ts'
import type { ReplayStream } from './replay-stream.ts'
import { parseEventId } from './replay-stream.ts'
import type { RetainedStreams, SessionStreams } from './retained-streams.ts'
import { createRetainedStreams } from './retained-streams.ts'
import { guestLimits } from './session-slots.ts'
import type { SessionTable } from './session-table.ts'
import { createSessionTable } from './session-table.ts'
import type { LocalSession, SharedSession, SharedSessions, sharedSessions } from './shared-sessions.ts'
import { StandaloneStream } from './standalone-stream.ts'

/** Returns how a request of a session arrived: with the connection of the session. */
export const sessionVia = (request: HttpRequest, { connection }: Session): Via => ({
  transport: 'http',
  peer: request.peer,
  header: (name) => request.header(name),
  connection,
})

/** The transport of a session. A session of one is unknown to the other, because their policies may differ. */
export type SessionTransport = 'mcp' | 'sse'

export interface SessionsOptions {
  /** A session ends after this long without a message from its client. */
  readonly idleMs: number
  readonly max: number
  /** How processes share sessions. By default they do not. */
  readonly share?: typeof sharedSessions | undefined
}

export interface Sessions {
  /**
   * Creates a session that is not found by its id until `register`, so that a failed handshake leaves nothing behind.
   */
  create(peer: string, route?: SessionTransport): Session
  register(session: Session): Promise<void>
  /** Whether the session may exist. Does not count as a use. */
  has(id: string): boolean
  /** Rejects with `sessionMissing` or `sessionNotFound`. */
  get(id: string | undefined, route?: SessionTransport): Promise<Session>
  closeSession(session: Session): Promise<void>
  /** Closes the connections of standalone streams, so that their clients reconnect to another process. */
  detach(): void
  /** Closes the sessions here. Shared sessions live on in other processes. */
  close(): Promise<void>
  readonly size: number
}

const notFound = (): RpcError => new RpcError('sessionNotFound', 'Session not found: send initialize again')

export function createSessions(server: TransportServer, { idleMs, max, share }: SessionsOptions): Sessions {
  const { clock, logger, authenticates } = server
  const shared = server.shared && share?.(server.shared, { clock, logger, idleMs, max, authenticates })
  const streams = createRetainedStreams(clock)
  const members = createSessionTable({ clock, max, idleMs, share: Math.ceil(max / 2), evict: closeLocal })
  const guestMs = Math.min(idleMs, guestLimits.idleMs)
  const guests = createSessionTable({ clock, ...guestLimits, idleMs: guestMs, evict: closeLocal })
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
  function closeLocal(session: Session): void {
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
      // Otherwise it would stay open, because no request could find it.
      closeLocal(session)
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
    new Session(server, { id, network: networkOf(peer), sharing: shared, streams, onClosed: closeLocal })
  /** Asks the store whether a shared session still exists, because another process may have ended it. */
  async function confirm(session: Session): Promise<Session> {
    if (!session.shared || (await session.shared.refresh())) return session
    closeLocal(session)
    throw notFound()
  }
  async function reopen(id: string): Promise<Session> {
    const session = make(id, '')
    await putAfter(confirm(session), session)
    return session
  }
  async function putAfter(opened: Promise<unknown> | undefined, session: Session): Promise<void> {
    try {
      await opened
    } catch (thrown) {
      closeLocal(session)
      throw thrown
    }
    put(session)
  }
  /** Reopens a session once, for all messages that arrive together. */
  function open(id: string): Promise<Session> {
    const opening = openings.get(id) ?? reopen(id).finally(() => openings.delete(id))
    openings.set(id, opening)
    return opening
  }
  return {
    create: (peer, route = 'mcp') => make(idPrefixes[route] + randomId(16), peer),
    register: (session) => putAfter(session.shared?.register(session.network), session),
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
      closeLocal(session)
      await session.shared?.close()
    },
    detach() {
      for (const table of tables) for (const session of table.values()) session.detach()
    },
    async close() {
      cancelTimer?.()
      if (shared) await shared.flush()
      for (const table of tables) for (const session of table.values()) closeLocal(session)
      await shared?.close()
    },
    get size() {
      return size()
    },
  }
}

interface SessionParts {
  readonly id: string
  readonly network: string
  readonly sharing: SharedSessions | undefined
  readonly streams: RetainedStreams
  /** Called when another process ended the session. */
  onClosed(session: Session): void
}

/** A class, because thousands of sessions may wait at once, and a class costs less memory than closures. */
export class Session {
  readonly id: string
  /** The network that the first message came from. */
  readonly network: string
  readonly connection: Connection
  readonly shared: SharedSession | undefined
  readonly standalone: StandaloneStream
  readonly #retained: RetainedStreams
  #streams: SessionStreams | undefined = undefined

  constructor(server: TransportServer, { id, network, sharing, streams, onClosed }: SessionParts) {
    this.id = id
    this.network = network
    this.#retained = streams
    this.shared = sharing?.open(id, this.#local(onClosed))
    const connection = connect(server, { id, remote: this.shared })
    this.connection = connection
    this.shared?.bind(connection)
    // The id is the same on every process, and does not reveal the session's id.
    this.standalone = new StandaloneStream(sha256(`standing ${id}`).slice(0, 12), (send, after) =>
      server.subscribe(
        connection,
        (notification, position) => send(JSON.stringify(notification), position),
        after?.padStart(16, '0'),
      ),
    )
  }
  #local(onClosed: (session: Session) => void): LocalSession {
    return {
      onClosed: () => onClosed(this),
      isListening: () => this.standalone.attached,
      deliver: (text) => {
        if (this.standalone.attached) this.standalone.write(text)
        return this.standalone.attached
      },
      onStreamTaken: (stream) =>
        stream === this.standalone.id ? this.standalone.release() : this.#streams?.get(stream)?.release(),
    }
  }
  /** Whether streams begin with an event that the client can resume from. */
  get primesStreams(): boolean {
    const { agreed } = this.connection.state
    return agreed !== undefined && featuresOf(agreed.revision).primedStreams
  }
  openStream(call: Id | undefined): ReplayStream {
    const id = randomId(6)
    this.#streams ??= this.#retained.forSession()
    return this.#streams.open(id, this.primesStreams, this.shared?.openLog(id, call))
  }
  /**
   * Continues the stream that an event id belongs to, by default the standalone stream. False if the stream does not
   * exist any more; `open` is called only if it does.
   */
  async resume(open: () => EventWriter, eventId?: string): Promise<boolean> {
    const { standalone } = this
    const position = eventId === undefined ? { stream: standalone.id, after: undefined } : parseEventId(eventId)
    if (!position) return false
    const stream = this.#streams?.get(position.stream)
    const after = Number(position.after)
    if (position.stream === standalone.id) standalone.attach(open(), position.after)
    else if (stream?.canReplayFrom(after)) stream.attach(open(), after)
    else if (stream) return false
    else return (await this.shared?.follow(position.stream, after, open)) ?? false
    this.shared?.claimStream(position.stream)
    return true
  }
  /** Sends on the standalone stream, on any process. For 2024-11-05, where it is the only stream. */
  send(text: string): void {
    if (this.standalone.attached || !this.shared) this.standalone.write(text)
    else this.shared.sendRemote(text)
  }
  /** Whether a call or an open stream of the session is here. */
  get busy(): boolean {
    return this.connection.inFlight.size > 0 || this.standalone.attached
  }
  /** Closes the connection of the standalone stream. The client is told to reconnect. */
  detach(): void {
    // With HTTP+SSE it is the only stream and stays open, because running calls still answer on it.
    if (isSessionId(this.id, 'mcp')) this.standalone.detach()
  }
  /** Closes all streams of the session. */
  close(): void {
    this.standalone.release()
    this.#streams?.close()
  }
}

const idPrefixes: { readonly [route in SessionTransport]: string } = { mcp: '', sse: 'sse-' }
const isSessionId = (text: string, route: SessionTransport): boolean =>
  text.startsWith(idPrefixes[route]) && /^[0-9a-f]{32}$/.test(text.slice(idPrefixes[route].length))

const randomId = (bytes: number): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, '0')).join('')
