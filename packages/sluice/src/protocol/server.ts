/** A running server, as developers see it and as transports do. */

import type { Via } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import type { Connection } from '../core/connection.ts'
import type { SharedServices } from '../core/hub.ts'
import type { Params } from '../core/json.ts'
import type { Logger } from '../core/log.ts'
import type { Gauge, Page } from '../core/plugin.ts'
import type { ProtectedResource } from '../core/protected-resource.ts'
import type { Stop } from '../core/stop.ts'
import type { ServerDefinition } from './definition.ts'
import type { MessageContext } from './dispatch.ts'

/** A running server, for the program that created it. */
export interface Server {
  /**
   * Handles one message. Returns a response object, an array for a 2025-03-26 batch, or `null` if the message must not be
   * answered. Never rejects.
   */
  handle(message: unknown, context?: Partial<MessageContext>): Promise<object | readonly object[] | null>
  /** Swaps the definition and notifies subscribers of changed lists. Calls in flight keep the old definition. */
  update(definition: ServerDefinition): void
  /** Notifies subscribers of a changed list that `update` cannot see, such as the resources of a template. */
  listChanged(kind: 'tools' | 'prompts' | 'resources'): void
  /** Notifies subscribers of a changed resource. */
  resourceUpdated(uri: string): void
  /** Rejects if the server must not start, such as with a store that forgets tickets. */
  ready(): Promise<void>
  /** Makes readiness fail, so that a load balancer sends new work elsewhere. Requests that still arrive are served. */
  drain(): void
  /**
   * Refuses new calls as `shuttingDown` and ends subscriptions; answers and cancellations still come in. Settles when no
   * call is in flight. After `graceMs` the remaining calls are answered with `shuttingDown`.
   */
  shutDown(graceMs: number): Promise<void>
  /** Ends subscriptions and connections, and writes what is queued. */
  close(): Promise<void>
  readonly logger: Logger
  readonly clock: Clock
}

/** Sends a message of the server to a client. `position` identifies it for a client that reconnects. */
export type Send = (message: Params, position: string) => void

/** A running server, for transports. */
export interface TransportServer extends Server {
  /**
   * Handles one message, as text, so that prepared answers are never parsed and serialized again. Returns no promise if
   * the call waits for nothing. Never throws, never rejects.
   */
  handleText(message: unknown, context?: Partial<MessageContext>): string | null | Promise<string | null>
  /** Returns the answer to a message that a transport could not hand in: not JSON, too large, from the wrong origin. Logs it. */
  reject(thrown: unknown, via: Via, message?: unknown): string
  /**
   * Registers a connection (`connect` makes one), so that a shutdown waits for its calls and closes it. With `send` the
   * connection gets notifications. Returns a function that the connection calls when it closes.
   */
  attach(connection: Connection, send?: Send): () => void
  /** How long a question to a client may stay open. */
  readonly answerWithinMs: number
  /**
   * Sends notifications that belong to no call of the connection, from now on or after the position of an earlier one.
   * Ends with the connection, or by the returned function.
   */
  subscribe(connection: Connection, send: Send, after?: string): () => void
  /** Settles when no notification published from then on is missed here. Rejects if the store is unavailable. */
  eventsReady(): Promise<void>
  /**
   * Settles when the definitions of a source are known, or could not be had in time. `undefined` if there is no source.
   * A transport that does not wait for `ready` waits for this, because clients read capabilities once.
   */
  definitionsReady(): Promise<void> | undefined
  /** What all processes of this server share; `undefined` if there is one process. */
  readonly shared: SharedServices | undefined
  /** Throws if it would not be safe to let strangers reach the server. Called before a transport listens on a network. */
  assertSafeToExpose(): void
  /** Whether callers must prove who they are, except for the public methods. */
  readonly authenticates: boolean
  /** The server's public address, if its verifier knows it. */
  readonly exposes: ProtectedResource | undefined
  /** Numbers that metrics and the console show; transports add theirs. */
  readonly gauges: Gauge[]
  /**
   * Authorizes streams and notifications, which bypass the layers. A session's id says which session, never which caller.
   * Triggers `stop` when the credential expires or is revoked. `method` is that of a notification.
   */
  authorizeConnection(via: Via, stop?: Stop, method?: string): Promise<void>
  /**
   * Settles when the records of answered calls are written; `undefined` if there are none. For runtimes that end all work
   * of a request with its answer.
   */
  readonly flush: (() => Promise<void>) | undefined
  /** Returns `/healthz`, `/readyz` and `/metrics`; `undefined` for other paths, and for readers that may not see them. */
  page(path: string, peer: string, query?: string): Promise<Page | undefined>
}

/** Returns the same server as transports see it. */
export function toTransportServer(server: Server): TransportServer {
  if (isTransportServer(server)) return server
  throw new TypeError('Only servers that createServer made can be served')
}

const isTransportServer = (server: Server): server is TransportServer => 'handleText' in server
