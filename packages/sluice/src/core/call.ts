/**
 * The one shape that every request has inside the runtime, and the one way to wrap it.
 *
 * This file knows nothing of JSON-RPC or transports. It runs in every runtime that has `AbortSignal`.
 */

import type { Answer } from './answer.ts'
import type { CallPark } from './call-park.ts'
import type { CallTask } from './call-task.ts'
import type { Connection } from './connection.ts'
import type { Id, Params } from './json.ts'
import type { Logger } from './log.ts'
import type { Stop } from './stop.ts'
import type { Store } from './store.ts'
import type { Ready, Target } from './target.ts'

/** The verified identity that a call comes from. */
export interface Caller {
  /** The user or program. `anonymous` until a layer authenticates the caller. */
  readonly subject: string
  /** The credential that was used. An agent's token and the same person's console session are two credentials. */
  readonly credential: string
  readonly scopes: ReadonlySet<string>
  readonly claims: Params
  /** The time at which its streams and sockets are closed, in milliseconds since the epoch. */
  readonly expires: number
}

/**
 * The tenant of a call. Never absent: a public call has a tenant whose store refuses. Its members reach the data of
 * this tenant only.
 */
export interface Tenant {
  readonly id: string
  readonly store: Store
  /** Adds the tenant to each line. */
  readonly logger: Logger
  /**
   * The tools that this tenant has. `undefined` if all tenants have the same tools, so that they can share prepared
   * lists.
   */
  readonly tools: ReadonlySet<string> | 'all' | undefined
}

/** The facts that the transport knows and the message does not contain. */
export interface Via {
  readonly transport: 'stdio' | 'http' | 'websocket' | 'memory'
  /** The address at the other end of the wire. It is never an identity. */
  readonly peer: string
  /** Returns a request header by its lower-case name; `undefined` if the transport has no headers. */
  header(name: string): string | undefined
  /** A pipe, a socket or a legacy HTTP session. 2026-07-28 over HTTP has none. */
  readonly connection?: Connection
}

/** A question that the work of an approved call asked, in words. */
export interface AskedInCall {
  /** Names the question. The answer is recorded under the same key. */
  readonly key: string
  readonly question: string
  readonly answer?: string
}

/** One incoming message. A layer passes on a changed copy and never changes this object. */
export interface Call {
  readonly id: Id
  readonly method: string
  readonly params: Params
  /** The request's `_meta`. */
  readonly meta: Params
  readonly revision: string
  /**
   * The target of the call, so that no layer looks inside `params`. It is found before the first layer, or after
   * authentication for a URI.
   */
  readonly target: Target
  /**
   * Finds the target of a URI, or of a name that callers see differently, and reports it to the outer layers. Takes the
   * call with its caller and tenant. `undefined` if the target is known already.
   */
  readonly resolve?: ((call: Call) => Target) | undefined
  /** The arguments as received. This is what is fingerprinted, approved and stored. */
  readonly args: unknown
  /** Set by `validate`. */
  readonly ready: Ready | undefined
  /** The person's checked answers, set by `ask`. They are part of what is approved. */
  readonly answers: Params
  /**
   * The id under which this work is spent (an approval's ticket), set by an outer layer. The idempotency layer runs it
   * once.
   */
  readonly ticketId?: string
  /** Set by the tasks layer if the call may become a task. */
  readonly task?: CallTask
  /** Set by the approvals layer while a ticket runs. Puts a question of the work on the ticket, and later its answer. */
  readonly recordQuestion?: (asked: AskedInCall) => Promise<void>
  /** Set by the park layer if the work may ask while it runs. */
  readonly park?: CallPark
  /** Never absent. It is `anonymous` until a layer authenticates the caller. */
  readonly caller: Caller
  readonly tenant: Tenant
  /** The capabilities that the client declares for this request. */
  readonly capabilities: Params
  readonly via: Via
  /**
   * Ends the call early, because the client cancelled, its connection closed or a deadline passed. Tools get
   * `stop.signal`.
   */
  readonly stop: Stop
  /** Sends a notification on this call's own stream, never on another one. Does nothing after the answer. */
  readonly notify: (method: string, params: Params) => void
  /**
   * Sends a request to the client on this call's own stream. `undefined` if the stream cannot carry one, and on
   * 2026-07-28.
   */
  readonly request: ((method: string, params: Params, stop?: Stop) => Promise<unknown>) | undefined
  /** Tells the transport that this call is accepted and stays open, so that it does not wait for the answer. */
  readonly stayOpen: (() => void) | undefined
  /** Notifies every subscriber, in every process, that something changed. */
  readonly publish: (event: ServerEvent) => void
  /** Maximum number of characters of JSON in the result. */
  readonly maxResultLength: number
  /**
   * Ends this call's HTTP response early, so that the client fetches the rest later. Does nothing on other transports.
   */
  readonly detach: () => void
  /**
   * The one value that inner layers report outward, for the log, the span, the metrics and the audit. All copies share
   * it.
   */
  readonly facts: Facts
}

export interface Facts {
  outcome?: string
  /** The error id that the client received. */
  reference?: string
  [fact: string]: string | number | undefined
}

/** The lists that can change. */
export const listKinds = ['tools', 'prompts', 'resources'] as const

/** A change that clients can subscribe to. */
export type ServerEvent =
  | { readonly kind: 'tools' | 'prompts' | 'resources' }
  /** Has a tenant if a call of that tenant made the change. Other tenants are then not notified. */
  | { readonly kind: 'resource'; readonly uri: string; readonly tenant?: string }

/**
 * Answers a call. A method, the work of a tool and a stack of layers are handlers. A call that waits for nothing is
 * answered without a promise, because the promises would cost more than all layers.
 */
export type Handler = (call: Call) => Answer | Promise<Answer>
/** Wraps a handler. It may refuse, pass on a changed copy, inspect the answer, or call `next` again. */
export type Layer = (next: Handler) => Handler

/** Composes the layers. `pipeline([outer, inner], handler)` reads in the order in which it runs. */
export const pipeline = (layers: readonly Layer[], handler: Handler): Handler =>
  layers.reduceRight((next, layer) => layer(next), handler)

/** Calls a handler and always returns a promise. It rejects if the handler throws. */
export const callAsync = async (handler: Handler, call: Call): Promise<Answer> => handler(call)

export const anonymous: Caller = {
  subject: 'anonymous',
  credential: 'none',
  scopes: new Set(),
  claims: {},
  expires: Number.POSITIVE_INFINITY,
}
