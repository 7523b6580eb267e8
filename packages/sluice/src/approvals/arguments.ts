/** The approval arguments among a tool's own arguments, for clients that cannot send them anywhere else. */

import { invalidParams } from '../core/error.ts'
import { isObject } from '../core/json.ts'
import type { ReservedArguments } from '../core/reserved-arguments.ts'
import { reservedArguments } from '../core/reserved-arguments.ts'
import type { Target } from '../core/target.ts'

/** For `tool({ approvalArguments })`. `approved: true` is accepted because clients send it. Only the ticket decides. */
export const approvalArguments: ReservedArguments = reservedArguments('approvalArguments', {
  approval_request_id: {
    type: 'string',
    description: 'Only when you repeat a call that needed an approval: the request_id from its answer',
  },
  approved: {
    description:
      'Only when you repeat a call that needed an approval. false withdraws the request; true alone approves nothing',
  },
})

export interface SplitArguments {
  /** The tool's own arguments. These are approved and run. */
  readonly args: unknown
  /** The ticket the client names. */
  readonly ticket?: string
  /** The client withdraws the ticket it names, so nothing may run. */
  readonly withdrawn?: boolean
}

/** Separates the two. An empty id counts as absent, because models fill in optional arguments with empty values. */
export function splitArguments({ approvalArguments: reserved }: Target, raw: unknown): SplitArguments {
  if (!reserved || !isObject(raw)) return { args: raw }
  const args = reserved.without(raw)
  const ticket = raw['approval_request_id']
  if (ticket === undefined || ticket === null || ticket === '') return { args }
  if (typeof ticket !== 'string') throw invalidParams('approval_request_id must be the request_id of an approval')
  return { args, ticket, withdrawn: isWithdrawn(raw['approved']) }
}

/** Refuses any value that is not true, false or empty, because a call that its client meant to withdraw must not run. */
function isWithdrawn(approved: unknown): boolean {
  if (approved === undefined || approved === null || approved === '') return false
  const parsed = parseApproved(approved)
  if (parsed === undefined) throw invalidParams('approved must be true or false')
  return !parsed
}

/** Accepts the texts "true" and "false" too, because clients send them (docs/documents.md#003). */
export const parseApproved = (approved: unknown): boolean | undefined => {
  const parsed = typeof approved === 'string' ? { true: true, false: false }[approved.toLowerCase()] : approved
  return typeof parsed === 'boolean' ? parsed : undefined
}
