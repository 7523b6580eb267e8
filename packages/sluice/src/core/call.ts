/**
 * The one shape every request takes inside the runtime, and the one way to wrap it.
 *
 * Knows nothing of JSON-RPC or transports. Runs wherever `AbortSignal` does.
 */

import type { Answer } from './answer.ts'
import type { CallTask } from './call-task.ts'
import type { Connection } from './connection.ts'
import type { Id, Params } from './json.ts'
import type { Logger } from './log.ts'
import type { Stop } from './stop.ts'
import type { Store } from './store.ts'
import type { Ready, Target } from './target.ts'

/** Who a call comes from, as verified. */
export interface Caller {
  /** Who. `anonymous` until a layer vouches for someone. */
  readonly subject: string
  /** By which credential: an agent's token and the same person's console session are two. */
  readonly credential: string
  readonly scopes: ReadonlySet<string>
  readonly claims: Params
  /** Streams and sockets end here, in milliseconds since the epoch. */
  readonly expires: number
}

/** Never absent. A public call has a tenant whose store refuses. What it hands out reaches nobody else's data. */
export interface Tenant {
  readonly id: string
  readonly store: Store
  /** Stamps each line with the tenant. */
  readonly logger: Logger
  /** The tools it has at all; `undefined` where tenants do not differ in that, and lists are everybody's. */
  readonly tools: ReadonlySet<string> | 'all' | undefined
}

/** What the transport knows and the message does not say. */
export interface Via {
  readonly transport: 'stdio' | 'http' | 'websocket' | 'memory'
  /** Who is at the other end of the wire; an address, never an identity. */
  readonly peer: string
  /** A request header by its lower-case name; `undefined` where the transport has none. */
  header(name: string): string | undefined
  /** A pipe, a socket or a legacy HTTP session. 2026-07-28 over HTTP has none. */
  readonly connection?: Connection
}

/** One message on its way in. Layers hand on a changed copy; nobody changes this one. */
export interface Call {
  readonly id: Id
  readonly method: string
  readonly params: Params
  /** The request's `_meta`. */
  readonly meta: Params
  readonly revision: string
  /** What it is aimed at: no layer looks inside `params`. Found before the first layer; for a URI, after authentication. */
  readonly target: Target
  /** Finds the target of a URI, and says so to the layers outside. `undefined` where it is known already. */
  readonly resolve?: (() => Target) | undefined
  /** The arguments as received: what is fingerprinted, approved and stored. */
  readonly args: unknown
  /** Set by `validate`. */
  readonly ready: Ready | undefined
  /** Checked answers of the person, set by `ask`. Part of what is approved. */
  readonly answers: Params
  /** What this very work is spent under, set by an outer layer (an approval's ticket); `once` runs it once. */
  readonly ticketId?: string
  /** Set by the tasks layer where the call may become a task. */
  readonly task?: CallTask
  /** Never absent. Until a layer vouches for someone it is `anonymous`. */
  readonly caller: Caller
  readonly tenant: Tenant
  /** What the client says it can do, for this request. */
  readonly capabilities: Params
  readonly via: Via
  /** Ends the call early: the client cancelled, its connection ended or a deadline passed. `stop.signal` is for the work. */
  readonly stop: Stop
  /** Sends a notification on this call's own stream, never on another's. Nothing after the answer. */
  readonly notify: (method: string, params: Params) => void
  /** Asks the client on this call's own stream; `undefined` where no question can be carried (and on 2026-07-28). */
  readonly request: ((method: string, params: Params, stop?: Stop) => Promise<unknown>) | undefined
  /** Tells the transport that this call is accepted and stays open, so that it does not wait for the answer. */
  readonly stayOpen: (() => void) | undefined
  /** Tells every subscriber, on whatever process, that something changed. */
  readonly publish: (event: ServerEvent) => void
  /** How many characters of JSON its result may have. */
  readonly maxResultLength: number
  /** Ends this call's HTTP response early, so that the client fetches the rest later; elsewhere nothing happens. */
  readonly detach: () => void
  /** The one thing that travels outward: facts for the log, the span, the metrics and the audit. Shared by all copies. */
  readonly facts: Facts
}

export interface Facts {
  outcome?: string
  /** What the client was given to name a failure by. */
  reference?: string
  [fact: string]: string | number | undefined
}

/** Something subscribers can ask to hear of. */
export type ServerEvent =
  | { readonly kind: 'tools' | 'prompts' | 'resources' }
  /** With a tenant where a call of its changed it: what changed is then nobody else's business. */
  | { readonly kind: 'resource'; readonly uri: string; readonly tenant?: string }

/** Answers a call: a method, the work of a tool, a stack of layers. */
export type Handler = (call: Call) => Promise<Answer>
/** Wraps a handler: may refuse, hand on a changed copy, look at the answer, or call `next` again. */
export type Layer = (next: Handler) => Handler

/** `pipeline([outer, inner], handler)` reads in the order it runs. */
export const pipeline = (layers: readonly Layer[], handler: Handler): Handler =>
  layers.reduceRight((next, layer) => layer(next), handler)

export const anonymous: Caller = {
  subject: 'anonymous',
  credential: 'none',
  scopes: new Set(),
  claims: {},
  expires: Number.POSITIVE_INFINITY,
}
