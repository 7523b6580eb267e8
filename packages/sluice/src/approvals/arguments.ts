/** Arguments of the gate's that stand among a tool's own, for clients that cannot send them anywhere else. */

import { invalidParams } from '../core/error.ts'
import { isObject } from '../core/json.ts'
import type { OwnArguments } from '../core/own-arguments.ts'
import { ownArguments } from '../core/own-arguments.ts'
import type { Target } from '../core/target.ts'

/** For `tool({ approvalArguments })`. The flag is taken because clients send it; the ticket decides. */
export const approvalArguments: OwnArguments = ownArguments('approvalArguments', {
  approval_request_id: {
    type: 'string',
    description: 'Only when repeating a call that needed an approval: the request_id it was answered with',
  },
  approved: {
    description: 'Only when repeating a call that needed an approval. Has no effect by itself',
  },
})

export interface Taken {
  /** What is left for the tool: what is approved and runs. */
  readonly args: unknown
  /** The ticket the client names. */
  readonly ticket?: string
}

/** Models fill in what they do not need with nothing; that names no ticket. */
export function takeArguments({ approvalArguments: own }: Target, raw: unknown): Taken {
  if (!own || !isObject(raw)) return { args: raw }
  const args = own.without(raw)
  const ticket = raw['approval_request_id']
  if (ticket === undefined || ticket === null || ticket === '') return { args }
  if (typeof ticket !== 'string') throw invalidParams('approval_request_id must be the request_id of an approval')
  return { args, ticket }
}
