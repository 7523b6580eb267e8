/** The target of a call. It is found before the first layer, so that no layer looks inside `params`. */

import type { Answer } from './answer.ts'
import type { Call } from './call.ts'
import type { Json, Params } from './json.ts'
import type { ReservedArguments } from './reserved-arguments.ts'

export interface Policy {
  /** Scopes that the caller must all have. */
  readonly scopes: readonly string[]
  /** Whether lists show it to callers without the scopes. Calling it then returns a challenge instead of "unknown". */
  readonly listed: boolean
  readonly approval: 'never' | 'always' | 'depends'
  /** `Infinity` for streams, which end in other ways. */
  readonly timeoutMs: number
  /** Whether the definition sets the timeout. Otherwise a host may set another one. */
  readonly ownTimeout?: boolean
  readonly readOnly: boolean
}

/**
 * Made once per definition. A name without a definition has one of the `unknown` targets, which only `authorize`
 * refuses.
 */
export interface Target {
  readonly kind: 'tool' | 'resource' | 'prompt' | 'method' | 'unknown'
  /** From a finite set, so it is safe as a limiter key or a metric label. */
  readonly name: string
  readonly policy: Policy
  /** The entry that lists show to the newest revision. `definitionHash` covers it and the policy. */
  readonly entry?: object
  /** The hash of the reviewed definition, if another party wrote it. `definitionHash` covers it. */
  readonly pin?: string
  /** The annotations come from another party, so rules treat them as absent: every hint has its dangerous default. */
  readonly hintsAreClaims?: boolean
  /** Whether the tool asks questions. A server without `ask` cannot serve it. */
  readonly asks?: boolean
  /** Whether the work asks while it runs. A server without `park` cannot serve a target that requires it. */
  readonly asksWhileRunning?: 'possible' | 'required'
  /** Whether a call may be answered with a task. `never` by default. */
  readonly task?: TaskMode | undefined
  /** How long the call waits for its result before it becomes a task, in milliseconds. */
  readonly taskAfterMs?: number | undefined
  /** Arguments of the approval layer among the tool's. The layer removes them before anything is approved. */
  readonly approvalArguments?: ReservedArguments
  /** Arguments that 2026-07-28 clients repeat as `Mcp-Param-*` headers. */
  readonly headers?: readonly HeaderParam[]
  /**
   * Turns raw arguments into work that is ready to run. Its closures hold the parsed, typed input, so that no caller
   * casts.
   */
  prepare(args: unknown): Ready | ArgumentIssues | Promise<Ready | ArgumentIssues>
}

/** `auto`: if the work takes long and the client knows tasks. `always`: other clients are refused. */
export type TaskMode = 'never' | 'auto' | 'always'

export interface HeaderParam {
  /** `Mcp-Param-` and the name from the schema, in lower case. */
  readonly header: string
  /** Property names from the root of the arguments. */
  readonly path: readonly string[]
}

/** The things a call acts on, under labels that a person reads: `{ Workspace: 'scratch', Memories: 214 }`. */
export type Effect = { readonly [label: string]: string | number | boolean }

export interface Ready {
  /** Returns whether this call needs an approval. Present only if `policy.approval` is `depends`. */
  readonly needsApproval?: ((call: Call) => Promise<boolean>) | undefined
  /** Returns what this call would act on now. An approval is bound to it. Changes nothing. */
  readonly effect?: ((call: Call) => Promise<Effect>) | undefined
  /** Returns the questions that are still open after these answers. Changes nothing; runs on every round. */
  readonly ask?: ((answers: Params, call: Call) => Promise<Questions>) | undefined
  run(call: Call, answers: Params): Answer | Promise<Answer>
}
export interface ArgumentIssues {
  readonly issues: readonly ArgumentIssue[]
}
/** The reason why an argument was refused, for a model to read and a program to act on. */
export interface ArgumentIssue {
  readonly code: string
  readonly message: string
  readonly hint?: string
  readonly param?: string
  readonly minLength?: number
  readonly min?: number
}

export type Questions = { readonly [key: string]: Question }

/** Input that a tool needs from the person or the client before it can run. */
export interface Question {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list'
  readonly params: Params
  /** The capabilities that the client must have declared, as a ClientCapabilities object. */
  readonly needs: Params
  /**
   * A page on which the person finishes something. An acceptance means "opened", so the question stays open until `ask`
   * drops it.
   */
  readonly visit?: boolean
  /** Returns the checked answer or the person's refusal; `undefined` if the question must be asked again. */
  accept(answer: unknown): AcceptedAnswer | undefined
}
export type AcceptedAnswer = { readonly value: Json } | { readonly declined: 'decline' | 'cancel' }
