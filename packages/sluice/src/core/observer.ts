/** What there is to say about one message once it is over: made once by the observe layer, read by every sink. */

import type { Call } from './call.ts'
import type { Reason } from './error.ts'

/** How it ended, from a finite set: safe as a metric label. */
export type CallOutcome = 'complete' | 'input_required' | 'approval_required' | 'toolError' | Reason

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

/** Returns at once. One that throws is ignored: telling of an answer must not change it. */
export type Observer = (event: EndedCall) => void
