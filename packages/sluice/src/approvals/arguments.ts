/** Arguments of the gate's that stand among a tool's own, for clients that cannot send them anywhere else. */

import { invalidParams } from '../core/error.ts'
import { isObject } from '../core/json.ts'
import type { ReservedArguments } from '../core/reserved-arguments.ts'
import { reservedArguments } from '../core/reserved-arguments.ts'
import type { Target } from '../core/target.ts'

/** For `tool({ approvalArguments })`. `approved: true` is taken because clients send it; the ticket decides. */
export const approvalArguments: ReservedArguments = reservedArguments('approvalArguments', {
  approval_request_id: {
    type: 'string',
    description: 'Only when repeating a call that needed an approval: the request_id it was answered with',
  },
  approved: {
    description: 'Only when repeating a call that needed an approval. false withdraws it, true alone approves nothing',
  },
})

export interface SplitArguments {
  /** What is left for the tool: what is approved and runs. */
  readonly args: unknown
  /** The ticket the client names. */
  readonly ticket?: string
  /** The client says no to the ticket it names: nothing may run. */
  readonly withdrawn?: boolean
}

/** Models fill in what they do not need with nothing; that names no ticket. */
export function splitArguments({ approvalArguments: own }: Target, raw: unknown): SplitArguments {
  if (!own || !isObject(raw)) return { args: raw }
  const args = own.without(raw)
  const ticket = raw['approval_request_id']
  if (ticket === undefined || ticket === null || ticket === '') return { args }
  if (typeof ticket !== 'string') throw invalidParams('approval_request_id must be the request_id of an approval')
  return { args, ticket, withdrawn: isWithdrawn(raw['approved']) }
}

/** Anything but a clear yes, a clear no or nothing is refused: a client that meant no must not be run. */
function isWithdrawn(approved: unknown): boolean {
  if (approved === undefined || approved === null || approved === '') return false
  const said = parseApproved(approved)
  if (said === undefined) throw invalidParams('approved must be true or false')
  return !said
}

/** Document 003's clients send texts too. */
export const parseApproved = (approved: unknown): boolean | undefined => {
  const said = typeof approved === 'string' ? { true: true, false: false }[approved.toLowerCase()] : approved
  return typeof said === 'boolean' ? said : undefined
}
