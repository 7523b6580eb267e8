/**
 * Asks the user of the calling client by a form, for the approver `client`. The form shows the complete call, so that the
 * person sees what would run also if the client shows nothing else.
 */

import type { Call } from '../core/call.ts'
import { fail } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { canAnswer } from '../protocol/questions.ts'
import { featuresOf } from '../protocol/revisions.ts'
import type { Decider } from './decide.ts'
import { mayDecide } from './decide.ts'
import { isLocal } from './local-caller.ts'
import { markedText } from './marked-text.ts'
import { callParts } from './readable-call.ts'
import type { Proposal } from './ticket.ts'

const formNeeds = { elicitation: { form: {} } }

/** The calling client as the one that decides, for its own user. */
export const callingClient = ({ caller, tenant }: Call): Decider => ({
  ...{ subject: caller.subject, credential: caller.credential },
  ...{ via: 'protocol', tenants: [tenant.id], operator: false },
})

/**
 * Whether the client can be asked and its answer counts. `asksLegacy`: the server can ask clients before 2026-07-28. If
 * several people must approve, one form is not enough.
 */
export function canAskClient(call: Call, proposal: Proposal, asksLegacy: boolean): boolean {
  const { elicitation, inputRequired } = featuresOf(call.revision)
  return (
    proposal.approver === 'client' &&
    proposal.needed === 1 &&
    isLocal(call.via) &&
    mayDecide('approve', proposal, callingClient(call)) &&
    elicitation !== 'none' &&
    (inputRequired || (asksLegacy && call.request !== undefined)) &&
    canAnswer(call.capabilities, { needs: formNeeds })
  )
}

/** Returns the form. Nothing in it is preset, so that a client that accepts without asking decides nothing. */
export const approvalForm = (proposal: Proposal): Params => ({
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: approvalQuestion(proposal),
    requestedSchema: {
      type: 'object',
      properties: {
        decision: {
          type: 'string',
          title: 'Decision',
          oneOf: [
            { const: 'approve', title: 'Approve: it runs once' },
            { const: 'deny', title: 'Deny: it does not run' },
          ],
        },
        note: { type: 'string', title: 'Note', description: 'The agent can read it', maxLength: 1000 },
      },
      required: ['decision'],
    },
  },
})

/**
 * Returns the question with the complete call. The call is indented by four columns after an empty line. A client that
 * renders Markdown shows that as code, so that no argument becomes a link or an image.
 */
function approvalQuestion(proposal: Proposal): string {
  const parts = callParts(proposal).map(([title, text]) => `${title}:\n\n${text.replace(/^/gm, '    ')}`)
  return [`Approve this call of ${markedText(`${proposal.server}/${proposal.tool}`)}?`, ...parts].join('\n\n')
}

/** Returns the decision in the client's reply. Throws for the model if the reply holds none. */
export function decisionIn(reply: unknown): { readonly approved: boolean; readonly note?: string } {
  const { action, content } = isObject(reply) ? reply : {}
  const { decision, note } = isObject(content) ? content : {}
  if (action === 'decline') return { approved: false }
  if (action === 'accept' && (decision === 'approve' || decision === 'deny'))
    return { approved: decision === 'approve', ...(typeof note === 'string' && note !== '' && { note }) }
  throw fail('Not run: the user closed the question without a decision. To ask again, call the tool again.')
}
