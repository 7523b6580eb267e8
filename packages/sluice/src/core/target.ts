/** What a call is aimed at: found before the first layer, so that no layer looks inside `params`. */

import type { Answer } from './answer.ts'
import type { Call } from './call.ts'
import type { Json, Params } from './json.ts'
import type { ReservedArguments } from './reserved-arguments.ts'

export interface Policy {
  /** All of these are needed. */
  readonly scopes: readonly string[]
  /** In lists even for callers without the scopes; calling it then is a challenge instead of "unknown". */
  readonly listed: boolean
  readonly approval: 'never' | 'always' | 'depends'
  /** `Infinity` for streams, which end in other ways. */
  readonly timeoutMs: number
  /** Whether the definition says so itself; otherwise a host may set another one. */
  readonly ownTimeout?: boolean
  readonly readOnly: boolean
}

/** Made once per definition. A name nobody defined is one of the `unknown` targets, which only `authorize` refuses. */
export interface Target {
  readonly kind: 'tool' | 'resource' | 'prompt' | 'method' | 'unknown'
  /** From a finite set, so it is safe as a limiter key or a metric label. */
  readonly name: string
  readonly policy: Policy
  /** As the lists show it to the newest revision; with the policy it is what `hashOf` covers. */
  readonly entry?: object
  /** It has questions, so a server without `ask` cannot serve it. */
  readonly asks?: boolean
  /** Whether a call may be answered with a task: never by default. */
  readonly task?: TaskMode | undefined
  /** How long the result is waited for before the call becomes a task, in milliseconds. */
  readonly taskAfterMs?: number | undefined
  /** Arguments of the approval gate that stand among the tool's; it takes them out before anything is approved. */
  readonly approvalArguments?: ReservedArguments
  /** Arguments that 2026-07-28 clients repeat as `Mcp-Param-*` headers. */
  readonly headers?: readonly HeaderParam[]
  /** Raw arguments in, work ready to run out: the parsed input lives in its closures, typed; nobody casts. */
  prepare(args: unknown): Ready | ArgumentIssues | Promise<Ready | ArgumentIssues>
}

/** `auto`: if the work takes long and the client knows tasks. `always`: other clients are refused. */
export type TaskMode = 'never' | 'auto' | 'always'

export interface HeaderParam {
  /** `Mcp-Param-` and the name the schema gave, lower case. */
  readonly header: string
  /** Property names from the root of the arguments. */
  readonly path: readonly string[]
}

/** What a call acts on, by labels that a person reads: `{ Workspace: 'scratch', Memories: 214 }`. */
export type Effect = { readonly [label: string]: string | number | boolean }

export interface Ready {
  /** Whether this very call needs an approval; only where `policy.approval` is `depends`. */
  readonly needsApproval?: ((call: Call) => Promise<boolean>) | undefined
  /** What this very call would act on now: an approval is bound to it. Changes nothing. */
  readonly effect?: ((call: Call) => Promise<Effect>) | undefined
  /** What must still be asked, given these answers. Changes nothing; runs on every round. */
  readonly ask?: ((given: Params, call: Call) => Promise<Questions>) | undefined
  run(call: Call, given: Params): Answer | Promise<Answer>
}
export interface ArgumentIssues {
  readonly issues: readonly ArgumentIssue[]
}
/** Why an argument was refused, for a model to read and a program to act on. */
export interface ArgumentIssue {
  readonly code: string
  readonly message: string
  readonly hint?: string
  readonly param?: string
  readonly minLength?: number
  readonly min?: number
}

export type Questions = { readonly [key: string]: Question }

/** Something a tool needs from the person or the client before it can run. */
export interface Question {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list'
  readonly params: Params
  /** What the client must have declared, as a ClientCapabilities object. */
  readonly needs: Params
  /** A page to finish something on: an acceptance means "opened", and the question stays until `ask` drops it. */
  readonly visit?: boolean
  /** The checked answer, the person's no, or `undefined` for an answer that must be asked for again. */
  accept(answer: unknown): AcceptedAnswer | undefined
}
export type AcceptedAnswer = { readonly value: Json } | { readonly declined: 'decline' | 'cancel' }
