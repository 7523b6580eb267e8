/** The seam between the gateway and its upstreams: connections that are opened when a call needs one, one per scope key. */

import type { Client } from '../client/types.ts'
import type { Stop } from '../core/stop.ts'
import type { CredentialHolder } from './auth/types.ts'

/** Decides whose calls share one connection or process of an upstream. */
export type Scope = 'shared' | 'tenant' | 'caller' | 'session'

/** One value per group of callers that share a connection; made by the gateway from the scope, the tenant and the caller. */
export type ScopeKey = {
  readonly text: string
  readonly tenant: string | undefined
  /** The caller of this key, if it is one caller's. */
  readonly holder?: CredentialHolder
  /** Returns whether the session of this key is closed, so that its connection is not needed any longer. */
  readonly isOver?: () => boolean
}

/**
 * A client that is ready to send, held for one call. `release` must be called exactly once. `failure` is the error that
 * the call ended with, for a circuit breaker.
 */
export type ConnectionLease = { readonly client: Client; release(failure?: unknown): void }

/** What an operator sees of one connection. */
export type UpstreamConnection = {
  readonly key: string
  /** The one tenant whose calls use it; `undefined` if all may. */
  readonly tenant?: string
  readonly state: 'connecting' | 'ready' | 'backoff' | 'crash-loop' | 'closed'
  readonly pid?: number
  readonly startedAt?: number
  readonly restarts: number
  readonly inFlight: number
  readonly revision?: string
  readonly lastError?: string
  readonly stderr?: readonly string[]
  /** Number of lines on stdout that were not messages of the protocol. */
  readonly skippedLines?: number
  /** A definition that differs on this connection from the served one. Its calls are refused. */
  readonly differs?: string
}

/** Opens, keeps and ends the connections of one upstream: one per scope key. */
export type Connections = {
  /**
   * Returns the connection of this scope key, started if needed. A ready one is returned at once, without a promise.
   * Refuses with `upstreamUnavailable`: circuit open, crash loop, caps.
   */
  acquire(key: ScopeKey, stop: Stop): ConnectionLease | Promise<ConnectionLease>
  states(): readonly UpstreamConnection[]
  /** Ends the connections (all, or one key's) and clears backoff and crash-loop. */
  restart(key?: string): Promise<void>
  close(): Promise<void>
}
