/**
 * Replies that tell the caller that a person must decide first. Clients of 2026-07-28 with URL elicitation are asked to
 * open the page. All others get a result whose text is JSON, and call again.
 */

import type { Result } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { callBinding } from '../core/call-binding.ts'
import { invalidParams, RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { Seal } from '../core/seal.ts'
import { featuresOf } from '../protocol/revisions.ts'
import { effectLines } from './effect.ts'
import type { Decision, Proposal } from './ticket.ts'

/** The key of our question among the tool's own questions. */
const questionKey = 'dev.sluice/approval'

/** Returns the ticket that the sealed state names. Throws if the state is forged, expired or from another call. */
export async function ticketInState(call: Call, seal: Seal): Promise<string | undefined> {
  const sealed = call.params['requestState']
  if (sealed === undefined) return undefined
  if (typeof sealed !== 'string') throw invalidParams('requestState must be a string')
  const state = await seal.open(sealed, callBinding(call))
  const ticket = isObject(state) ? state['ticket'] : undefined
  return typeof ticket === 'string' ? ticket : undefined
}

/** Whether the client declined to open the page. Accepting or declining that decides nothing about the ticket. */
export function declinedToOpen({ params }: Call): boolean {
  const replies = params['inputResponses']
  const reply = isObject(replies) ? replies[questionKey] : undefined
  const action = isObject(reply) ? reply['action'] : undefined
  return action === 'decline' || action === 'cancel'
}

export async function approvalRequired(
  call: Call,
  proposal: Proposal,
  url: string | undefined,
  seal: Seal,
  ttlMs: number,
): Promise<Result> {
  const { id, tool, approver, effect } = proposal
  const message = `User approval required for tool: ${tool}`
  if (url !== undefined && approver === 'owner' && supportsUrlElicitation(call))
    return {
      resultType: 'input_required',
      inputRequests: {
        [questionKey]: {
          method: 'elicitation/create',
          params: { mode: 'url', message: [message, ...effectLines(effect)].join('\n'), url },
        },
      },
      // One state serves both, so it also holds the answers to the tool's own questions.
      requestState: await seal.seal({ given: call.answers, ticket: id }, callBinding(call), ttlMs),
    }
  const payload: Params = {
    ...{ approval_required: true, request_id: id, message },
    ...(effect && { effect }),
    ...(url !== undefined && { url }),
  }
  return {
    content: [{ type: 'text', text: JSON.stringify(payload) }],
    // Otherwise a client that validates results against the tool's output schema would reject this one.
    isError: isObject(call.target.entry) && call.target.entry['outputSchema'] !== undefined,
    _meta: { 'dev.sluice/approval': { ...payload, expires_at: proposal.expiresAt } },
  }
}

const supportsUrlElicitation = ({ revision, capabilities }: Call): boolean =>
  featuresOf(revision).inputRequired &&
  isObject(capabilities['elicitation']) &&
  isObject(capabilities['elicitation']['url'])

/** Makes the error for the model, so that it does not simply try again. */
export function approvalDenied({ tool }: Proposal, decisions: readonly Decision[]): RpcError {
  const note = decisions.find(({ approved }) => !approved)?.note
  const reason = note === undefined ? '' : ` Their note: ${note}`
  return new RpcError(
    'approvalDenied',
    `A person denied this call of ${tool}, and it did not run. Do not repeat it unless the user asks you to.${reason}`,
  )
}
