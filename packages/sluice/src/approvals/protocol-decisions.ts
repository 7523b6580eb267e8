/**
 * Decisions that come through the protocol, so they may come from an agent. A client sends one in the form that it was
 * asked by, with `approval/respond`, or as `approved: false` among the arguments of a tool.
 */

import type { Answer } from '../core/answer.ts'
import type { Call, Via } from '../core/call.ts'
import { anonymous } from '../core/call.ts'
import { fail, invalidParams, RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { isLoopbackAddress } from '../core/loopback.ts'
import type { ExtraMethod } from '../core/plugin.ts'
import type { ReservedArguments } from '../core/reserved-arguments.ts'
import { reservedArguments } from '../core/reserved-arguments.ts'
import type { Target } from '../core/target.ts'
import { canAnswer } from '../protocol/questions.ts'
import { featuresOf } from '../protocol/revisions.ts'
import type { Decider } from './decide.ts'
import { mayDecide } from './decide.ts'
import type { SharedApprovals } from './service.ts'
import { markedText } from './text/marked-text.ts'
import { callParts } from './text/readable.ts'
import type { Proposal } from './ticket.ts'

/** The calling client as the one that decides, for its own user. */
export const callingClient = ({ caller, tenant }: Call): Decider => ({
  ...{ subject: caller.subject, credential: caller.credential },
  ...{ via: 'protocol', tenants: [tenant.id], operator: false },
})

/**
 * Refuses anonymous network callers, because a ticket must name a caller. stdio and in-process calls have exactly one
 * user.
 */
export function refuseAnonymous({ caller, tenant, via }: Call): void {
  if ((caller.credential === anonymous.credential && !isPipe(via)) || tenant.id === '')
    throw new RpcError('forbidden', 'This call needs an approval, and an approval needs a known caller: sign in first')
}

/**
 * Headers that proxies add. Behind a proxy on this machine every peer looks local. A proxy that adds none of them cannot
 * be detected.
 */
const forwardingHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip']

/** Whether the other end is the program that started this process, or this process itself. */
export const isPipe = ({ transport }: Pick<Via, 'transport'>): boolean =>
  transport === 'stdio' || transport === 'memory'

/** Tells calls from this machine. With the approver `client`, decisions are accepted from them only. */
export const isLocal = (via: Via): boolean =>
  isPipe(via) ||
  // A peer must be an address, because a name does not prove where the other end is.
  (isLoopbackAddress(via.peer) && !forwardingHeaders.some((name) => via.header(name) !== undefined))

const formNeeds = { elicitation: { form: {} } }

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

/** The scope that lets a caller decide for others. An agent's credential should never have it. */
const scope = 'approvals:decide'

/** The wording that existing clients expect (docs/documents.md#003). */
const denialMessage = 'User denied approval. You can retry by invoking the tool again.'

/** With the approver `client` the calling client reports its user's decision. Otherwise another subject must decide. */
export const respond = ({ approver, service }: Pick<SharedApprovals, 'approver' | 'service'>): ExtraMethod => ({
  name: 'approval/respond',
  extension: 'dev.sluice/approvals',
  scopes: approver === 'client' ? [] : [scope],
  async run(call): Promise<Answer> {
    const { id, approved, message } = parseResponse(call)
    refuseAnonymous(call)
    if (approver === 'client' && !isLocal(call.via))
      throw new RpcError('forbidden', 'With "approver" set to "client", decisions are accepted only from this machine')
    const decision = { approved, ...(message !== undefined && { note: message }) }
    await service.decide(id, decision, { ...callingClient(call), operator: call.caller.scopes.has(scope) })
    call.facts['ticket'] = id
    return { recorded: true, approved, ...(!approved && { message: message ?? denialMessage }) }
  },
})

function parseResponse({ params }: Call): { id: string; approved: boolean; message?: string } {
  const { request_id: id, approved, message } = params
  if (typeof id !== 'string' || id === '' || id.length > 256)
    throw invalidParams('request_id must be the id from the answer to a call')
  const parsed = parseApproved(approved)
  if (parsed === undefined) throw invalidParams('approved must be true or false')
  if (message !== undefined && typeof message !== 'string') throw invalidParams('message must be a string')
  return { id, approved: parsed, ...(message !== undefined && { message }) }
}

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
