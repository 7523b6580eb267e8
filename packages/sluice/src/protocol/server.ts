/** The doors of a running server: all that transports, tests and other programs know of it. */

import type { Via } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import type { Connection } from '../core/connection.ts'
import type { SharedServices } from '../core/hub.ts'
import type { Params } from '../core/json.ts'
import type { Logger } from '../core/log.ts'
import type { Count, Page } from '../core/part.ts'
import type { Stop } from '../core/stop.ts'
import type { ServerDefinition } from './definition.ts'
import type { MessageContext } from './dispatch.ts'

/** A running server: the doors that transports, tests and other programs use. */
export interface Server {
  /** For programs: a response object, an array for a 2025-03-26 batch, or `null` for what must not be answered. Never rejects. */
  handle(message: unknown, context?: Partial<MessageContext>): Promise<object | readonly object[] | null>
  /** For transports: the same as the text that goes out, so that answers made ahead are never parsed and printed again. */
  handleText(message: unknown, context?: Partial<MessageContext>): Promise<string | null>
  /** The text for what a transport could not hand in: not JSON, too large, from the wrong origin. Logged like the rest. */
  reject(thrown: unknown, via: Via, message?: unknown): string
  /**
   * Takes a connection in (`connect` makes one): its calls count when the server ends, which also closes it. With `send` it
   * hears of changes. Returns what its close calls.
   */
  attach(connection: Connection, send?: (message: Params, position: string) => void): () => void
  /** How long a question to a client may stay open. */
  readonly answerWithinMs: number
  /**
   * Sends what belongs to no call of the connection: changes, from now on or after a position that came with an earlier
   * one. Ends with the connection, or by the returned function.
   */
  subscribe(connection: Connection, send: (message: Params, position: string) => void, after?: string): () => void
  /** Settles when no change published from then on is missed here. Rejects if the store is away. */
  eventsReady(): Promise<void>
  /** What all processes of this server have in common; `undefined` where there is only this one. */
  readonly shared: SharedServices | undefined
  /** Swaps the definition and tells subscribers which lists changed; calls under way keep the old one. */
  update(definition: ServerDefinition): void
  /** Tells subscribers that a list changed that `update` cannot see: what a template lists. */
  listChanged(kind: 'tools' | 'prompts' | 'resources'): void
  /** For transports that strangers can reach, before they let anybody in. Throws where that would not be safe. */
  assertSafeToExpose(): void
  /** Rejects where it must not start: a store that forgets tickets. For transports that can wait before they listen. */
  ready(): Promise<void>
  /** Tells subscribers that a resource changed. */
  resourceUpdated(uri: string): void
  readonly logger: Logger
  readonly clock: Clock
  /** Whether callers must prove who they are, except for the public methods. */
  readonly authenticates: boolean
  /** Numbers that metrics and the console show; transports add theirs. */
  readonly gauges: Count[]
  /**
   * Throws unless whoever is at the other end may use this connection: for what is no call and passes no layer, as a
   * session's stream, its end, a notification or a response. A session's id says which session, never who. `stop` is
   * that of a stream or socket: it is stopped when the credential expires or is revoked. `method` is a notification's.
   */
  authorizeConnection(via: Via, stop?: Stop, method?: string): Promise<void>
  /** `/healthz`, `/readyz` and `/metrics` for who may read them; `undefined` for the rest. */
  page(path: string, peer: string): Promise<Page | undefined>
  /** Readiness fails from now on, so that a balancer sends new work elsewhere; what still comes is served. */
  drain(): void
  /**
   * New calls are refused as `shuttingDown` from now on, and subscriptions end; answers and cancellations still come in.
   * Settles when nothing is under way; what is after `graceMs` is answered with `shuttingDown` too.
   */
  shutDown(graceMs: number): Promise<void>
  /** Ends subscriptions and connections, and writes what is waiting to be recorded. */
  close(): Promise<void>
}
