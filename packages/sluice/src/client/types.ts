/** The public types of the client: its options, and a connection to one server. */

import type { Clock } from '../core/clock.ts'
import type { Era } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import type { RevisionName } from '../protocol/revisions.ts'
import type { ClientError } from './errors.ts'
import type { EraMemory, ServerAgreement } from './negotiate.ts'
import type { QuestionHandlers } from './questions.ts'
import type { Subscription, SubscriptionFilter, SubscriptionListener } from './subscriptions.ts'

/** Options of a connection. */
export interface ClientOptions {
  /** The name and version of this client. Servers show them in logs. */
  readonly clientInfo?: { readonly name: string; readonly version: string; readonly [member: string]: unknown }
  /** Answers questions of the server. Exactly these are declared. */
  readonly handlers?: QuestionHandlers
  /** Declared in addition to the handlers' capabilities: extensions, experimental ones. */
  readonly capabilities?: Params
  /** Declares the tasks extension: servers may answer calls with tasks, which `callTool` waits for. */
  readonly tasks?: boolean
  /** Only this revision is accepted. By default the newest that both speak. */
  readonly revision?: RevisionName
  /** Only this era is tried: `modern` for `server/discover`, `legacy` for `initialize`. */
  readonly era?: Era
  /** Remembers which era a server speaks, so that the next connection asks once. A `Map` does. */
  readonly eras?: EraMemory
  /** How long a request may take. 60 seconds by default. */
  readonly timeoutMs?: number
  /** How long `server/discover` may take on a channel before `initialize` is tried. 5 seconds by default. */
  readonly probeMs?: number
  /** Ends the connecting. */
  readonly signal?: AbortSignal
  /** Notifications that belong to no request with a listener, and all changes of lists and resources. */
  onNotification?(method: string, params: Params): void
  /** Receives a sentence for each ignored message: output that is not JSON, unknown ids, tools that cannot be called. */
  onIgnored?(problem: string): void
  /** The transport ended by itself. */
  onClose?(error: ClientError): void
  readonly clock?: Clock
}

/** Options of one request. */
export interface RequestOptions {
  readonly signal?: AbortSignal
  /** The same without the cost of a signal: `onStop` registers what ends the request, and returns how to unregister it. */
  readonly stop?: { onStop(then: () => void): () => void }
  /** How long the request may take in all, questions aside. */
  readonly timeoutMs?: number
  /** Asks for progress and receives it. */
  onProgress?(progress: Params): void
  /** Receives the notifications on this request's stream. Changes of lists and resources reach the client's, too. */
  onNotification?(method: string, params: Params): void
  /** Replaces the declared capabilities for this request. Earlier revisions declare once: there it only narrows. */
  readonly capabilities?: Params
  /** Answers the questions of this request. */
  readonly handlers?: QuestionHandlers
  /** `return`: an `input_required` result is returned as it is, for a gateway that hands it on. */
  readonly inputRequired?: 'answer' | 'return'
  /** Returns a kept result if its server said how long it may be kept. */
  readonly cached?: boolean
  /** The lowest level of log messages that are wanted, on 2026-07-28. */
  readonly logLevel?: string
}

/** Options of one call of a tool. */
export interface CallToolOptions extends RequestOptions {
  /** Receives each state of the call's task, if the server makes it one. */
  onTask?(task: Params): void
}

/** A connection to one server. */
export interface Client {
  /** The agreement with the server: revision, capabilities, instructions. */
  readonly agreement: ServerAgreement
  /** Sends any request and returns its raw result. Rejects with `ServerError` or `ClientError`. */
  request(method: string, params?: Params, options?: RequestOptions): Promise<Params>
  /** Sends a notification. */
  notify(method: string, params?: Params): Promise<void>
  /** Calls a tool. Answers questions and waits for tasks. */
  callTool(name: string, args?: Params, options?: CallToolOptions): Promise<Params>
  /** Yields the tools. Tools whose marks for headers are invalid are left out, as the specification asks. */
  tools(options?: RequestOptions): AsyncIterable<Params>
  prompts(options?: RequestOptions): AsyncIterable<Params>
  resources(options?: RequestOptions): AsyncIterable<Params>
  resourceTemplates(options?: RequestOptions): AsyncIterable<Params>
  /** Yields the pages of any list, each as the raw result. */
  pages(method: string, params?: Params, options?: RequestOptions): AsyncIterable<Params>
  /** Receives changes of lists, resources and tasks until it is closed. */
  subscribe(filter: SubscriptionFilter, listener: SubscriptionListener): Promise<Subscription>
  close(): Promise<void>
}
