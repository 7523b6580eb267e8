/** The public types of the gateway: its upstreams, the operator's rules for them, and what an operator sees of them. */

import type { Transport } from '../client/transport.ts'
import type { Client, ClientOptions } from '../client/types.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import type { ServerDefinition } from '../protocol/definition.ts'
import type { Format } from '../protocol/format.ts'
import type { Connections, Scope, UpstreamConnection } from './connections.ts'
import type { DefinitionReview } from './review.ts'

/**
 * A rule of the operator for tools of an upstream. Of the rules that match a tool, the first that states a member
 * decides that member.
 */
export interface UpstreamRule {
  /** The upstream's own names. `*` matches any characters, as in `delete_*`. Every tool by default. */
  readonly tools?: string | readonly string[]
  /** `false` hides the tool and refuses its calls. */
  readonly allow?: boolean
  /** Scopes that a caller must all have to see and call it. */
  readonly scopes?: readonly string[]
  /** Whether a call needs an approval. The rules of `createApprovals` come first. */
  readonly approval?: 'never' | 'always'
  /**
   * `relay` lets the upstream ask during a call that needed an approval. The approval does not cover the answers, so such
   * questions are declined by default.
   */
  readonly questions?: 'decline' | 'relay'
  /** How long a call may take. 60 seconds by default. */
  readonly timeoutMs?: number
  /** Writes the text of structured results in another format: `toon` of `sluice/toon`. */
  readonly format?: Format
}

/** Decides which definitions of an upstream are served without an operator. */
export type Trust = 'first-use' | 'review' | 'always'

/** Settings that every kind of upstream has. */
export interface UpstreamSettings {
  /** Lower-case letters, digits and `-`. Names on the endpoint for all begin with it, and tickets show it. */
  readonly name: string
  /**
   * Whose calls share one connection: `caller` by default, so that no state of one caller reaches another. It needs
   * authentication. `shared` is for upstreams that keep no state between calls.
   */
  readonly scope?: Scope
  /** The operator's rules for its tools. */
  readonly rules?: readonly UpstreamRule[]
  /** Believes the upstream's annotations. By default they are claims, and every tool counts as dangerous. */
  readonly trustHints?: boolean
  /**
   * Which definitions are served. `first-use`, the default: those of the first start, and later ones that an operator
   * accepted. `review`: only those that an operator accepted. `always`: all, without comparing connections, for servers
   * that you wrote.
   */
  readonly trust?: Trust
  /** The prefix of its names on the endpoint for all, by default its name. `''` keeps the names as they are. */
  readonly prefix?: string
  /** Folders to name to an upstream that asks for roots outside a call, as `file://` URIs. */
  readonly roots?: readonly string[]
  /** The longest message that is read from it, in bytes: 4 MiB by default. */
  readonly maxMessageBytes?: number
  /** How long connecting and listing may take: 30 seconds by default. */
  readonly discoverMs?: number
  /** How often its definitions are listed again without a notification: every 10 minutes by default. */
  readonly refreshMs?: number
}

/** What the gateway gives an upstream that opens its connections. */
export interface UpstreamContext {
  readonly clock: Clock
  readonly logger: Logger
  /** Connects over a transport, with the capabilities and listeners that the gateway needs. */
  connect(transport: Transport, options?: Pick<ClientOptions, 'onClose'>): Promise<Client>
}

/** A server behind the gateway, made by `upstream` or `fromSdk`. Plain data until the gateway starts. */
export interface Upstream extends UpstreamSettings {
  /** Names what is reached: an address, or a command. Stored definitions of another one are not served. */
  readonly reaches?: string
  /** Whether an idle connection costs a process, so that none is kept for notifications of changes. */
  readonly isProcess?: boolean
  /** Creates its connections. The gateway closes them. */
  open(context: UpstreamContext): Connections
}

/** Options of `gateway`. */
export interface GatewayOptions
  extends Pick<ServerDefinition, 'name' | 'version' | 'title' | 'description' | 'websiteUrl' | 'icons'> {
  readonly upstreams: readonly Upstream[]
  /** Instructions for the model, before those of the upstreams. */
  readonly instructions?: string
  /** How long a start waits for upstreams whose definitions are unknown: 10 seconds by default. */
  readonly startMs?: number
}

/** The endpoint for all upstreams, and one endpoint per upstream. Each is a definition for `createServer`. */
export interface Gateway extends ServerDefinition {
  /** The endpoint of each upstream, with exactly its names. */
  readonly endpoints: { readonly [upstream: string]: ServerDefinition }
  /** Returns what an operator sees of the upstreams. Empty before a server was created. */
  states(): readonly UpstreamState[]
  /** Ends the connections of an upstream, and lists its definitions again. */
  restart(upstream: string): Promise<void>
  /** Shows and decides new and changed definitions, which are not served until an operator accepts them. */
  readonly review: DefinitionReview
}

/** What an operator sees of one upstream. */
export interface UpstreamState {
  readonly name: string
  readonly transport: 'stdio' | 'http' | 'in-process'
  /** The protocol revision that it speaks; `undefined` before it was reached. */
  readonly revision?: string
  /** The median and the 95th percentile of its last 100 calls, in milliseconds. */
  readonly latency?: { readonly p50: number; readonly p95: number }
  /** `stored`: the definitions come from the store, and the upstream was not reached yet. */
  readonly definitions: 'unknown' | 'stored' | 'current'
  readonly tools: number
  readonly prompts: number
  readonly resources: number
  readonly templates: number
  /** SHA-256 over everything that a model or a person sees of it. */
  readonly hash?: string
  /** Why the last listing failed. */
  readonly lastError?: string
  /** Number of new and changed definitions that wait for an operator. */
  readonly quarantined: number
  /** Definitions that are not served, with the reason. */
  readonly leftOut: readonly LeftOut[]
  readonly connections: readonly UpstreamConnection[]
}

/** A definition that is not served. */
export interface LeftOut {
  readonly kind: 'tool' | 'prompt' | 'resource' | 'template' | 'instructions'
  readonly name: string
  readonly reason: string
}
