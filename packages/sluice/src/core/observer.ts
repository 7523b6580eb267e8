/** What an observer learns of messages: the observe layer makes one record per call, and every observer reads it. */

import type { Call, Via } from './call.ts'
import type { Reason } from './error.ts'
import type { LogLine } from './log.ts'

/** How it ended, from a finite set: safe as a metric label. */
export type CallOutcome = 'complete' | 'input_required' | 'approval_required' | 'task' | 'toolError' | Reason

/** One call that has ended, with its outcome. */
export interface EndedCall {
  /** As it arrived. What the layers found out about it (who, for whom, which trace) is in `call.facts`. */
  readonly call: Call
  readonly outcome: CallOutcome
  /** Refused, crashed, or a result that says `isError`. */
  readonly failed: boolean
  /** Milliseconds since the epoch. */
  readonly receivedAt: number
  readonly durationMs: number
  /** What was thrown, for `messageOf` and `bugLineOf`: its text may repeat what the caller sent, so no sink prints it. */
  readonly thrown: unknown
}

/** Each method returns at once. What an observer throws is ignored: an observer must not change an answer. */
export interface Observer {
  /** A request arrived; no layer has seen it. */
  readonly arrived?: (call: Call) => void
  /** A call ended, with a result or a refusal. */
  readonly ended?: (event: EndedCall) => void
  /** A message was refused before it became a call. */
  readonly rejected?: (line: LogLine) => void
  /** A notification arrived. The returned function is called when it has been handled. */
  readonly notified?: (method: string, via: Via) => () => void
}
