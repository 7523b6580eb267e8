/** The public types of the gateway: its upstreams, the operator's rules for them, and what an operator sees of them. */

import type { Transport } from '../client/transport.ts'
import type { Client, ClientOptions } from '../client/types.ts'
import type { Clock } from '../core/clock.ts'
import type { Params } from '../core/json.ts'
import type { Logger } from '../core/log.ts'
import type { Bucket } from '../core/store.ts'
import type { ServerDefinition } from '../protocol/definition.ts'
import type { Format } from '../protocol/format.ts'
import type { AuthContext, CallerAuth, SignIns } from './auth/types.ts'
import type { Connections, Scope, UpstreamConnection } from './connections.ts'
import type { CallExplanation, CallQuestion, HostPolicies, UpstreamTool } from './explain.ts'
import type { DefinitionReview } from './review.ts'

/**
 * A rule of the operator for tools of an upstream. `tools`, `tenants` and `callers` say which calls it is for; all that
 * are stated must match. Of the rules that match a call, the first that states a member decides that member.
 */
export interface UpstreamRule {
  /** The upstream's own names. `*` matches any characters, as in `delete_*`. Every tool by default. */
  readonly tools?: string | readonly string[]
  /** The tenants whose calls it is for. Every tenant by default. */
  readonly tenants?: string | readonly string[]
  /** The callers that it is for: subjects, or ids of API keys (16 hexadecimal digits). Every caller by default. */
  readonly callers?: string | readonly string[]
  /** `false` hides the tool and refuses its calls. */
  readonly allow?: boolean
  /** The name that callers see and use. `*` stands for the upstream's own name, as in `notes_*`. */
  readonly rename?: string
  /** The description that models read instead of the upstream's own. */
  readonly describe?: string
  /**
   * Arguments that every call gets. Callers neither see nor send them. They are part of what is approved, and of the
   * hash of the definition.
   */
  readonly fixed?: Params
  /** Arguments that a call gets if the caller sends none of that name. */
  readonly defaults?: Params
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
  /** How often each caller may call each of the tools. Needs `rateLimit()`, whose rate it replaces. */
  readonly rate?: Bucket
  /** How many characters of JSON a result may have. Never more than `maxResultLength` of the server. */
  readonly maxResultLength?: number
  /** Writes the text of structured results in another format: `toon` of `sluice/toon`. */
  readonly format?: Format
}

/** Decides which definitions of an upstream are served without an operator. */
export type Trust = 'first-use' | 'review' | 'always'
/**
 * A named subset of the tools of one or several upstreams, with an endpoint. It has tools only: no prompts and no
 * resources. A profile never gives what rules deny.
 */
export interface Profile {
  /** The upstream's own names of the tools, by upstream. `*` matches any characters. */
  readonly tools: { readonly [upstream: string]: string | readonly string[] }
  /** Callers that see only this profile, on every endpoint of the gateway: subjects, or ids of API keys. */
  readonly callers?: string | readonly string[]
}

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
  /** The credentials of callers, if each caller has their own. */
  readonly auth?: CallerAuth | undefined
  /** Connects over a transport, with the capabilities and listeners that the gateway needs. */
  connect(transport: Transport, options?: Pick<ClientOptions, 'onClose'>): Promise<Client>
}

/** A server behind the gateway, made by `upstream` or `fromSdk`. Plain data until the gateway starts. */
export interface Upstream extends UpstreamSettings {
  /** Names what is reached: an address, or a command. Stored definitions of another one are not served. */
  readonly reaches?: string
  /** Whether an idle connection costs a process, so that none is kept for notifications of changes. */
  readonly isProcess?: boolean
  /** Opens the credentials of callers, if each caller has their own. */
  auth?(context: Omit<AuthContext, 'url' | 'allowHosts' | 'sender'>): CallerAuth
  /** Whether the operator gave a credential that lists its definitions. Otherwise a caller's lists them. */
  readonly hasListCredential?: boolean
  /** Creates its connections. The gateway closes them. */
  open(context: UpstreamContext): Connections
}

/** Options of `gateway`. */
export interface GatewayOptions
  extends Pick<ServerDefinition, 'name' | 'version' | 'title' | 'description' | 'websiteUrl' | 'icons'> {
  readonly upstreams: readonly Upstream[]
  /** Named subsets of tools, by name. */
  readonly profiles?: { readonly [name: string]: Profile }
  /** Instructions for the model, before those of the upstreams. */
  readonly instructions?: string
  /** How long a start waits for upstreams whose definitions are unknown: 10 seconds by default. */
  readonly startMs?: number
}

/** The endpoint for all upstreams, and one endpoint per upstream and profile. Each is a definition for `createServer`. */
export interface Gateway extends ServerDefinition {
  /** The endpoint of each upstream, with exactly its names. */
  readonly endpoints: { readonly [upstream: string]: ServerDefinition }
  /** The endpoint of each profile. With one upstream it has the upstream's names, with several those of the endpoint for all. */
  readonly profiles: { readonly [profile: string]: ServerDefinition }
  /** Returns what an operator sees of the upstreams. Empty before a server was created. */
  states(): readonly UpstreamState[]
  /** The sign-ins of people at the upstreams. */
  readonly signIns: SignIns
  /** Returns the tools of the upstreams whose definitions are known, by their own names. */
  upstreamTools(): readonly UpstreamTool[]
  /** Returns what would happen to a call, and which rules decide it. Calls nothing and counts nothing. */
  explain(question: CallQuestion, host?: HostPolicies): CallExplanation
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
  /** Rules and profiles that name tools or arguments that it does not have. */
  readonly ruleProblems: readonly string[]
  readonly connections: readonly UpstreamConnection[]
}

/** A definition that is not served. */
export interface LeftOut {
  readonly kind: 'tool' | 'prompt' | 'resource' | 'template' | 'skill' | 'instructions'
  readonly name: string
  readonly reason: string
}
