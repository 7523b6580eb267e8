/** The record of one finished message: made once by the observe layer, read by every observer. */

import type { Call } from './call.ts'
import type { Reason } from './error.ts'

/** The outcome of a call, from a finite set, so that it is safe as a metric label. */
export type CallOutcome = 'complete' | 'input_required' | 'approval_required' | 'toolError' | Reason

export interface EndedCall {
  /** The call as it arrived. Facts that the layers found (caller, tenant, trace) are in `call.facts`. */
  readonly call: Call
  readonly outcome: CallOutcome
  /** True if the call was refused, crashed, or returned a result with `isError`. */
  readonly failed: boolean
  /** Milliseconds since the epoch. */
  readonly receivedAt: number
  readonly durationMs: number
  /**
   * The thrown value, for `messageOf` and `bugLineOf`. Its text may repeat what the caller sent, so no observer prints
   * it.
   */
  readonly thrown: unknown
}

/** Returns at once. An exception is ignored, because observing an answer must not change it. */
export type Observer = (event: EndedCall) => void
