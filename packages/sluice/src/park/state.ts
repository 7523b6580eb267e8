/** The state of a parked call that travels through the client: the call's id and the round, sealed. */

import type { Result } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { callBinding } from '../core/call-binding.ts'
import { isObject } from '../core/json.ts'
import type { Seal } from '../core/seal.ts'
import type { RunningCall } from '../running-calls/record.ts'

export interface ParkState {
  readonly id: string
  readonly round: number
}

/** Tells the states of parked calls from those of other layers. The character is in no sealed text. */
const mark = 'park~'

/** Returns the state that a request brings back; `undefined` if it brings none of a parked call. */
export async function readState(call: Call, seal: Seal): Promise<ParkState | undefined> {
  const text = call.params['requestState']
  if (typeof text !== 'string' || !text.startsWith(mark)) return undefined
  const state = await seal.open(text.slice(mark.length), callBinding(call))
  return isObject(state) && typeof state['id'] === 'string' && typeof state['round'] === 'number'
    ? { id: state['id'], round: state['round'] }
    : undefined
}

/** Returns the open questions of a record as the result of this round. */
export async function questionsResult(call: Call, record: RunningCall, seal: Seal, ttlMs: number): Promise<Result> {
  const state: ParkState = { id: record.id, round: record.rounds }
  return {
    resultType: 'input_required',
    inputRequests: record.questions,
    requestState: mark + (await seal.seal(state, callBinding(call), ttlMs)),
  }
}
