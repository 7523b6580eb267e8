/**
 * The seam between an operator and a server. An operator passes a list of plugins. Each fills one slot, gets services
 * and contributes layers, observers or pages. The order of the layers is in `server.ts`, so a list cannot get it wrong.
 */

import type { Answer } from './answer.ts'
import type { Bus } from './bus.ts'
import type { Call, Handler, Layer, Tenant, Via } from './call.ts'
import type { Clock } from './clock.ts'
import type { Era } from './error.ts'
import type { InFlight } from './in-flight.ts'
import type { Params } from './json.ts'
import type { Logger } from './log.ts'
import type { Observer } from './observer.ts'
import type { ProtectedResource } from './protected-resource.ts'
import type { Stop } from './stop.ts'
import type { Store } from './store.ts'
import type { Target } from './target.ts'

/** The slots, and what a plugin in each contributes. Each takes one plugin; `custom` takes any number. */
export interface Contributions {
  readonly log: LogContribution
  readonly audit: AuditContribution
  readonly tracing: Contribution
  readonly metrics: Contribution
  readonly health: Contribution
  readonly authenticate: AuthenticateContribution
  readonly tenants: TenantsContribution
  readonly rateLimit: Contribution
  readonly concurrency: Contribution
  readonly custom: Contribution
  readonly elicitation: ElicitationContribution
  readonly tasks: TasksContribution
  readonly park: ParkContribution
  readonly approvals: ApprovalsContribution
  readonly idempotency: Contribution
  readonly console: ConsoleContribution
}
/** The name of a place in the pipeline. */
export type Slot = keyof Contributions

/** What an operator adds to a server: `rateLimit({ … })`, `audit()`. */
export type Plugin = { readonly [S in Slot]: SlotPlugin<S> }[Slot]

/** A plugin for one slot. */
export interface SlotPlugin<S extends Slot> {
  readonly slot: S
  /** A default is replaced by another plugin in the same slot. Two that are not defaults are an error. */
  readonly isDefault?: true
  /** The slot that must be taken too, or the server does not start. */
  readonly needs?: Slot
  create(services: ServicesOf<S>): Contributions[S]
}

/** The log is created first and the audit second, so neither finds itself among its services. */
export type ServicesOf<S extends Slot> = S extends 'log'
  ? Omit<Services, 'logger' | 'audit'>
  : S extends 'audit'
    ? Omit<Services, 'audit'>
    : Services

/** What a plugin may use of the server it is installed in. */
export interface Services {
  /** The server's name. */
  readonly name: string
  /** Shared by all processes of a fleet. */
  readonly store: Store
  /** The part of the store that no tenant and no other server reaches. */
  readonly serverStore: Store
  readonly bus: Bus
  readonly clock: Clock
  readonly logger: Logger
  readonly audit: AuditLog
  /** Seals what travels through clients: the first secret seals, each opens. A random one is made on first use by default. */
  readonly secrets: () => readonly string[]
  /** Whether the operator set the secret. A random one ends with the process, and so does what it signed. */
  readonly hasSecret: boolean
  readonly tenants: Tenants
  /** Returns a new id for one failure or record: the client and the log share it. */
  readonly newErrorId: () => string
  /** Whether the server is shutting down. */
  readonly closing: () => boolean
  /** Numbers for metrics and the console; plugins add theirs. */
  readonly gauges: Gauge[]
  /** What tenants use of something bounded, for the console; plugins add theirs. */
  readonly quotas: Quota[]
}

/** Records what is not a call, such as a decision, in a tenant's audit. Values only, never arguments. */
export interface AuditLog {
  record(tenant: string, kind: string, fields: Params): void
}

/** The audit of a server that has none. */
export const noAudit: AuditLog = { record() {} }

/** What a plugin brings to its server. */
export interface Contribution {
  readonly layer?: Layer
  readonly observer?: Observer
  /** Serves pages beside the endpoint. `undefined` for other paths, and for readers that may not see the page. */
  readonly routes?: (path: string, peer: string, query?: string) => Promise<Page | undefined>
  /** Methods that extend the protocol. */
  readonly methods?: readonly ExtraMethod[]
  /** Lets the plugin veto a definition by throwing: at the start, at every update, and before strangers can reach it. */
  accepts?(definition: DefinitionSummary, exposure: Exposure): void
  /** Rejects if the server must not start. Transports that can wait call it before they listen. */
  ready?(): Promise<void>
  /** Writes what is queued, and ends timers and listeners. */
  close?(): Promise<void>
}

export interface LogContribution extends Contribution {
  /** Where all other plugins log. */
  readonly logger: Logger
}

export interface AuditContribution extends Contribution {
  readonly audit: AuditLog
  /** Settles when what was recorded is written, or a write of it has failed. */
  flush?(): Promise<void>
}

export interface AuthenticateContribution extends Contribution {
  /** Authorizes streams and notifications, which bypass the layers. Triggers `stop` when the credential ends. */
  authorizeConnection(via: Via, stop?: Stop, method?: string): Promise<void>
  /** The public address and its metadata, which HTTP transports accept and serve without further options. */
  readonly expose?: ProtectedResource
  /** Returns the scopes with all that they imply. */
  readonly expandScopes?: (scopes: ReadonlySet<string>) => ReadonlySet<string>
}

export interface TenantsContribution extends Contribution {
  /** Returns the tools of a tenant. Absent if all tenants have the same. */
  readonly toolsOf?: ((tenant: string) => ReadonlySet<string> | 'all') | undefined
}

export interface ElicitationContribution extends Contribution {
  /** Asks clients of revisions before 2026-07-28 by requests, outside all layers. */
  legacyBridge(observers: readonly Observer[]): Layer
}

export interface ApprovalsContribution extends Contribution {
  /** What tasks need to know about the tickets they wait for. */
  readonly tickets?: Tickets
}

export interface Tickets {
  /** Returns whether a person still has to decide. */
  isPending(id: string): Promise<boolean>
  /** Withdraws a ticket that its caller no longer wants. */
  withdraw(id: string, call: Call): Promise<void>
}

export interface TasksContribution extends Contribution {
  /** Answers calls with tasks, inside the deadline of the request and outside everything that the work holds. */
  createLayer?(server: TaskHost): Layer
  /** Stands right before the work, where a call becomes a task. */
  readonly startLayer?: Layer
  /** Adds the methods and the capability of tasks, on 2026-07-28 only. */
  extendRegistry?<R extends MethodRegistry>(registry: R): R
}

export interface ParkContribution extends Contribution {
  /** Answers a request with the questions of its work. `running` has the calls that a shutdown waits for, and stops. */
  createLayer?(server: { readonly running: InFlight<Stop> }): Layer
}

/** The target of a message, and its raw arguments. */
export interface Resolution {
  readonly target: Target
  readonly args: unknown
  /**
   * Finds the target after authentication: of a URI, so that anonymous clients cannot make the server compare URIs, and
   * of a name that callers see differently.
   */
  readonly find?: (call: Call) => Target
}

export interface ConsoleContribution extends Contribution {
  /** Composes the layers, given from the outside in, so that they can be measured. */
  compose?(layers: NamedLayers, run: Handler): Handler
  /** Hands over the server when it is ready to take messages, so that people can try its tools. */
  attach?(server: AttachedServer): void
}

/** The layers of a server by name. Those that it does not have are `undefined`. */
export type NamedLayers = { readonly [name: string]: Layer | undefined }

/** What the console uses of a server. */
export interface AttachedServer {
  /** Takes messages, as `handle` of a server does. */
  handle(message: unknown, context: { readonly via: Via }): Promise<object | readonly object[] | null>
  readonly expandScopes: AuthenticateContribution['expandScopes']
  readonly toolsOf: TenantsContribution['toolsOf']
  /** Whether calls have the tenants of their callers. Otherwise all are in one. */
  readonly hasTenants: boolean
}

/** Finds the target of a message. */
export interface MethodRegistry {
  resolve(method: string, params: Params, era: Era): Resolution
  isRequest(method: string): boolean
}

/** What the tasks layer needs from its server. */
export interface TaskHost {
  readonly slots: {
    readonly tracing?: Contribution
    readonly approvals?: ApprovalsContribution
    readonly park?: ParkContribution
  }
  /** Shows observers how the run of a task ends. */
  readonly observe: Layer
  readonly authorize: Layer
  /** The calls that a shutdown waits for, and stops. */
  readonly running: InFlight<Stop>
  /** Finds tools as they are defined now. */
  registry(): MethodRegistry
}

/** Who can reach the server. */
export interface Exposure {
  /** A transport is reachable by strangers. */
  readonly exposed: boolean
  /** Callers must prove who they are. */
  readonly authenticated: boolean
  /** Clients before 2026-07-28 can be asked, because the plugin `elicitation` is there. */
  readonly asksLegacy: boolean
}

/** A method outside the protocol. On 2026-07-28 it checks that the client declared its extension. */
export interface ExtraMethod {
  readonly name: string
  /** Listed among the capabilities, such as `dev.sluice/approvals`. */
  readonly extension: string
  /** Scopes that a caller needs; the error names them. */
  readonly scopes: readonly string[]
  run(call: Call): Promise<Answer>
}

/** As much of a definition as plugins need. */
export interface DefinitionSummary {
  readonly name: string
  readonly version: string
  readonly title?: string
  readonly description?: string
  readonly websiteUrl?: string
  readonly icons?: readonly object[]
  readonly tools?: readonly Target[]
}

export interface Tenants {
  /** `id` has been checked. */
  of(id: string): Tenant
  /** The tenant of public calls. Its store refuses every verb. */
  readonly none: Tenant
}

/** A page beside the endpoint, such as `/healthz`, ready to send. */
export interface Page {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  /** Joins the bodies of several servers on one port. */
  readonly join?: (bodies: readonly string[]) => string
}

export interface Gauge {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge'
  readonly read: () => number
}

export interface Quota {
  /** For people: `calls at once`. */
  readonly name: string
  /** `undefined` if the tenant uses none of it. */
  readonly of: (tenant: string) => { readonly used: number; readonly most: number } | undefined
  /** The work that uses it now, for operators. */
  readonly running?: () => readonly RunningWork[]
}

/** Work that outlives its request. */
export interface RunningWork {
  readonly id: string
  readonly tool: string
  readonly tenant: string
  readonly caller: string
  readonly startedAt: number
  /** What the work last said about itself. */
  readonly message?: string | undefined
}
