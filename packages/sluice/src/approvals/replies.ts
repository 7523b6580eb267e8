/**
 * How the caller learns that a person must decide first. Clients of 2026-07-28 that can open pages are asked to; all
 * others get document 003's result, whose text is JSON, and call again.
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

/** Among a tool's own questions. */
const questionKey = 'dev.sluice/approval'

/** The ticket that sealed state names. Throws for state that is forged, another call's, or too old. */
export async function ticketInState(call: Call, seal: Seal): Promise<string | undefined> {
  const sealed = call.params['requestState']
  if (sealed === undefined) return undefined
  if (typeof sealed !== 'string') throw invalidParams('requestState must be a string')
  const state = await seal.open(sealed, callBinding(call))
  const ticket = isObject(state) ? state['ticket'] : undefined
  return typeof ticket === 'string' ? ticket : undefined
}

/** Opening the page is all a client can accept or decline; neither decides anything. */
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
      // With what the tool's own questions were answered, since one state serves both.
      requestState: await seal.seal({ given: call.answers, ticket: id }, callBinding(call), ttlMs),
    }
  const said: Params = {
    ...{ approval_required: true, request_id: id, message },
    ...(effect && { effect }),
    ...(url !== undefined && { url }),
  }
  return {
    content: [{ type: 'text', text: JSON.stringify(said) }],
    // A client that checks results against the tool's output schema would take this for a broken one.
    isError: isObject(call.target.entry) && call.target.entry['outputSchema'] !== undefined,
    _meta: { 'dev.sluice/approval': { ...said, expires_at: proposal.expiresAt } },
  }
}

const supportsUrlElicitation = ({ revision, capabilities }: Call): boolean =>
  featuresOf(revision).inputRequired &&
  isObject(capabilities['elicitation']) &&
  isObject(capabilities['elicitation']['url'])

/** For the model, so that it does not just try again. */
export function approvalDenied({ tool }: Proposal, decisions: readonly Decision[]): RpcError {
  const note = decisions.find(({ approved }) => !approved)?.note
  const because = note === undefined ? '' : ` They said: ${note}`
  return new RpcError(
    'approvalDenied',
    `A person denied this call of ${tool}, and it did not run. Do not repeat it unless the user asks you to.${because}`,
  )
}
