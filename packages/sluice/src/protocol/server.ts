/** The interface of a running server: all that transports, tests and other programs know of it. */

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

/** A running server, as transports, tests and other programs use it. */
export interface Server {
  /**
   * For programs. Returns a response object, an array for a 2025-03-26 batch, or `null` if there must be no answer.
   * Never rejects.
   */
  handle(message: unknown, context?: Partial<MessageContext>): Promise<object | readonly object[] | null>
  /** For transports. The same as text to send, so that prepared answers are never parsed and serialized again. */
  handleText(message: unknown, context?: Partial<MessageContext>): Promise<string | null>
  /**
   * Returns the text for a message that a transport could not pass on: not JSON, too large, from the wrong origin.
   * Logged like other refusals.
   */
  reject(thrown: unknown, via: Via, message?: unknown): string
  /**
   * Registers a connection that `connect` made. Its calls delay the shutdown of the server, which also closes it. With
   * `send` it is notified of changes. The returned function is called when the connection closes.
   */
  attach(connection: Connection, send?: (message: Params, position: string) => void): () => void
  /** How long a question to a client may stay open. */
  readonly answerWithinMs: number
  /**
   * Sends changes, which belong to no call of the connection, from now on or after an earlier position. Ends with the
   * connection, or by the returned function.
   */
  subscribe(connection: Connection, send: (message: Params, position: string) => void, after?: string): () => void
  /** Settles when no change published from then on is missed here. Rejects if the store is unavailable. */
  eventsReady(): Promise<void>
  /** Services that all processes of this server share; `undefined` if there is only this process. */
  readonly shared: SharedServices | undefined
  /** Replaces the definition and notifies subscribers which lists changed. Running calls keep the old definition. */
  update(definition: ServerDefinition): void
  /** Notifies subscribers of a list change that `update` cannot see, such as the resources that a template lists. */
  listChanged(kind: 'tools' | 'prompts' | 'resources'): void
  /** For transports that untrusted clients can reach, before they accept any. Throws if that would be unsafe. */
  assertSafeToExpose(): void
  /**
   * Rejects if the server must not start, for example because the store can lose tickets. For transports that can wait
   * before they listen.
   */
  ready(): Promise<void>
  /** Notifies subscribers that a resource changed. */
  resourceUpdated(uri: string): void
  readonly logger: Logger
  readonly clock: Clock
  /** Whether callers must authenticate, except for the public methods. */
  readonly authenticates: boolean
  /** Numbers that metrics and the console show. Transports add theirs. */
  readonly gauges: Count[]
  /**
   * Authorizes what passes no layer: a session's stream, its end, a notification or a response. Throws if the client
   * may not use this connection, because a session's id is not an identity. Triggers the `stop` of a stream or socket
   * when the credential expires or is revoked. `method` is the notification's method.
   */
  authorizeConnection(via: Via, stop?: Stop, method?: string): Promise<void>
  /** Returns `/healthz`, `/readyz` and `/metrics` to peers that may read them; `undefined` for other paths. */
  page(path: string, peer: string): Promise<Page | undefined>
  /**
   * Makes readiness fail from now on, so that a load balancer sends new requests elsewhere. Requests that still arrive
   * are served.
   */
  drain(): void
  /**
   * Refuses new calls as `shuttingDown` from now on, and ends subscriptions. Answers and cancellations are still
   * accepted. Settles when no call is running. Calls that still run after `graceMs` are answered with `shuttingDown`
   * too.
   */
  shutDown(graceMs: number): Promise<void>
  /** Ends subscriptions and connections, and writes pending audit records. */
  close(): Promise<void>
}
