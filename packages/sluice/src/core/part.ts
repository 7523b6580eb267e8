/**
 * What an operator adds to a server, ready made: `limit({ … })`, `audit()`. A part is a function of what surrounds it,
 * handed in instead of chosen by name, so that a server carries the code of what it uses and of nothing else.
 */

import type { Answer } from './answer.ts'
import type { Bus } from './bus.ts'
import type { Call, Layer, Tenant, Via } from './call.ts'
import type { Clock } from './clock.ts'
import type { Params } from './json.ts'
import type { Logger, LogLine } from './log.ts'
import type { Observer } from './observer.ts'
import type { Stop } from './stop.ts'
import type { Store } from './store.ts'
import type { Target } from './target.ts'

/** `Name` is its place: `limit: audit()` does not compile, and does not start. */
export type Part<Name extends string> = (around: Surroundings) => Piece<Name>

/** What a part may take from the server it is in. */
export interface Surroundings {
  /** The server's. */
  readonly name: string
  /** Shared by all processes, where there are several. */
  readonly store: Store
  /** The part of it that no tenant and no other server reaches. */
  readonly own: Store
  readonly bus: Bus
  readonly clock: Clock
  readonly logger: Logger
  /** What to seal with: the first seals, each opens. Made on first use where nobody set one. */
  readonly secrets: () => readonly string[]
  /** Whether the operator set the secret: a random one is gone with the process, and so is what it signed. */
  readonly hasSecret: boolean
  readonly tenants: Tenants
  /** A new name for one failure, one record, one process: what a client and the log share. */
  readonly reference: () => string
  /** Whether it is being shut down. */
  readonly closing: () => boolean
  /** Puts something that is no call into the audit, where there is one. Values, never arguments. */
  readonly record: (tenant: string, kind: string, fields: Params) => void
  /** Numbers counted elsewhere, for whoever shows them; parts add theirs. */
  readonly counts: Count[]
  /** What tenants take of something bounded; parts add theirs. */
  readonly uses: Use[]
}

/** What a part brings. The server puts the layer in its place, and asks all parts for the rest. */
export interface Piece<Name extends string = string> {
  readonly part: Name
  readonly layer?: Layer
  /** Methods it adds to the protocol. */
  readonly methods?: readonly ExtraMethod[]
  /** Hears of the definition at the start, at every update and when strangers can reach it; throws where it cannot be served. */
  readonly defined?: (definition: Defined, to: { readonly exposed: boolean; readonly authenticated: boolean }) => void
  /** Rejects where the server must not start. Waited for by transports that can. */
  readonly ready?: () => Promise<void>
  /** For revisions before 2026-07-28, outside all layers; it tells the sinks itself. */
  readonly bridge?: (sinks: readonly Observer[]) => Layer
  /** Hears of every call that became one, when it is over. */
  readonly sink?: Observer
  /** Hears of every request before the first layer. */
  readonly arrived?: (call: Call) => void
  /** Hears of every notification of a client; what it returns is called when that is done. */
  readonly notified?: (method: string, via: Via) => () => void
  /** Hears of what was refused before it became a call. */
  readonly refused?: (line: LogLine) => void
  /** Throws unless who is at the other end may use this connection, and stops when it no longer may: for what is no call. */
  readonly admit?: (via: Via, stop?: Stop, method?: string) => Promise<void>
  /** Something to read over HTTP that is no MCP; `undefined` for other paths, and for who may not read it. */
  readonly page?: (path: string, peer: string) => Promise<Page | undefined>
  readonly record?: Surroundings['record']
  /** Where the other parts' lines go. */
  readonly logger?: Logger
  /** Writes what is waiting. */
  readonly close?: () => Promise<void>
}

/** A method that the protocol does not have. On 2026-07-28 it sees to it that the client declared its extension. */
export interface ExtraMethod {
  readonly name: string
  /** `dev.sluice/approvals`: among the capabilities. */
  readonly extension: string
  /** Needed to call it; who lacks them is told so. */
  readonly scopes: readonly string[]
  run(call: Call): Promise<Answer>
}

/** As much of a definition as parts need. */
export interface Defined {
  readonly info: {
    readonly name: string
    readonly version: string
    readonly title?: string
    readonly description?: string
  }
  readonly tools?: readonly Target[]
}

export interface Tenants {
  /** `id` has been checked. */
  of(id: string): Tenant
  /** For calls that may come from anybody: there is nowhere to leave or find anything. */
  readonly nobody: Tenant
}

/** A page beside the endpoint, such as `/healthz`, ready to send. */
export interface Page {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  /** Makes one page of the bodies of several servers that share a port. */
  readonly join?: (bodies: readonly string[]) => string
}

export interface Count {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge'
  readonly read: () => number
}

export interface Use {
  /** For people: `calls at once`. */
  readonly name: string
  /** `undefined` where the tenant has taken nothing. */
  readonly of: (tenant: string) => { readonly used: number; readonly most: number } | undefined
}
