/** The state of a parked call that travels through the client: the call's id, sealed. */

import type { Result } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { callBinding } from '../core/call-binding.ts'
import type { Seal } from '../core/seal.ts'
import type { RunningCall } from '../running-calls/record.ts'

/** Tells the states of parked calls from those of other layers. The character is in no sealed text. */
const mark = 'park~'

/** Returns whether a request brings back the state of a parked call. */
export const isContinued = ({ params: { requestState } }: Call): boolean =>
  typeof requestState === 'string' && requestState.startsWith(mark)

/** Returns the id of the parked call that a request continues. Rejects if the state is not this call's. */
export async function readState(call: Call, seal: Seal): Promise<string> {
  return String(await seal.open(String(call.params['requestState']).slice(mark.length), callBinding(call)))
}

/** Returns the open questions of a record as the result of this round. */
export async function questionsResult(call: Call, record: RunningCall, seal: Seal, ttlMs: number): Promise<Result> {
  return {
    resultType: 'input_required',
    inputRequests: record.questions,
    requestState: mark + (await seal.seal(record.id, callBinding(call), ttlMs)),
  }
}
