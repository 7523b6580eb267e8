/**
 * Replies that tell the caller that a person must decide first. With the approver `client`, a client that has forms asks
 * its user. Clients of 2026-07-28 with URL elicitation are asked to open the page. All others get a result whose text is
 * JSON, and call again.
 */

import type { Result } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { callBinding } from '../core/call-binding.ts'
import type { Clock } from '../core/clock.ts'
import { invalidParams, RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { Seal } from '../core/seal.ts'
import { featuresOf } from '../protocol/revisions.ts'
import { approvalForm, canAskClient } from './protocol-decisions.ts'
import type { ApprovalsService } from './service.ts'
import { effectLines } from './text/readable.ts'
import type { Decision, Proposal } from './ticket.ts'

/** The key of our question among the tool's own questions. */
const questionKey = 'dev.sluice/approval'

/** The ticket of an earlier round of this call. */
export interface AskedTicket {
  readonly id: string
  /** The client was asked by a form, so its reply is a decision. */
  readonly byForm: boolean
}

/** Returns the ticket that the sealed state names. Throws if the state is forged, expired or from another call. */
export async function ticketInState(call: Call, seal: Seal): Promise<AskedTicket | undefined> {
  const sealed = call.params['requestState']
  if (sealed === undefined) return undefined
  if (typeof sealed !== 'string') throw invalidParams('requestState must be a string')
  const state = await seal.open(sealed, callBinding(call))
  if (!isObject(state)) return undefined
  const { ticket, byForm } = state
  return typeof ticket === 'string' ? { id: ticket, byForm: byForm === true } : undefined
}

/** Returns the client's reply to our question; `undefined` if it sent none. */
export function replyIn({ params }: Call): unknown {
  const replies = params['inputResponses']
  return isObject(replies) ? replies[questionKey] : undefined
}

/** Whether the client declined to open the page. Accepting or declining that decides nothing about the ticket. */
export function declinedToOpen(call: Call): boolean {
  const reply = replyIn(call)
  const action = isObject(reply) ? reply['action'] : undefined
  return action === 'decline' || action === 'cancel'
}

/** How a person can decide, and how the caller can be told. */
export interface ReplyOptions {
  /** The ticket's page. */
  readonly url: string | undefined
  /** The command line that approves the ticket on this machine. */
  readonly command: string | undefined
  readonly seal: Seal
  readonly ttlMs: number
  /** The server can ask clients before 2026-07-28. */
  readonly asksLegacy: boolean
}

export async function approvalRequired(
  call: Call,
  proposal: Proposal,
  { url, command, seal, ttlMs, asksLegacy }: ReplyOptions,
): Promise<Result> {
  const { id, tool, approver, effect } = proposal
  const message = `User approval required for tool: ${tool}`
  /** One state serves both, so it also holds the answers to the tool's own questions. */
  const inputRequired = async (question: Params, byForm: boolean): Promise<Result> => ({
    resultType: 'input_required',
    inputRequests: { [questionKey]: question },
    requestState: await seal.seal({ given: call.answers, ticket: id, byForm }, callBinding(call), ttlMs),
  })
  if (canAskClient(call, proposal, asksLegacy)) return inputRequired(approvalForm(proposal), true)
  if (url !== undefined && approver === 'owner' && supportsUrlElicitation(call)) {
    const params = { mode: 'url', message: [message, ...effectLines(effect)].join('\n'), url }
    return inputRequired({ method: 'elicitation/create', params }, false)
  }
  const payload: Params = {
    ...{ approval_required: true, request_id: id, message },
    ...(effect && { effect }),
    ...(url !== undefined && { url }),
    ...(command !== undefined && { command }),
    next_step: nextStep(url, command),
  }
  return {
    content: [{ type: 'text', text: JSON.stringify(payload) }],
    // Otherwise a client that validates results against the tool's output schema would reject this one.
    isError: isObject(call.target.entry) && call.target.entry['outputSchema'] !== undefined,
    _meta: { 'dev.sluice/approval': { ...payload, expires_at: proposal.expiresAt } },
  }
}

/** Tells the model what to do, because most clients show it this text and nothing else. */
function nextStep(url: string | undefined, command: string | undefined): string {
  const channels = [url !== undefined && 'open "url"', command !== undefined && 'run "command" in a terminal']
  const known = channels.filter((each) => each !== false).join(' or ')
  const ask =
    known === '' ? 'A person must approve this call first.' : `Ask the user to ${known}. Do not do it yourself.`
  return `${ask} When it is approved, call the tool again with the same arguments: it then runs once.`
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

/** The interval of progress notifications while a call waits. */
const progressIntervalMs = 5_000

/**
 * Waits for a quick decision, so that the caller need not call again. Resolves when the ticket is decided, `waitMs`
 * have passed or the call has ended. Waits at most half of the tool's timeout, so that time remains to run. A call that
 * misses the notification of a decision just waits longer.
 */
export function waitForDecision(
  call: Call,
  id: string,
  {
    approvals,
    clock,
    waitMs,
  }: { readonly approvals: Pick<ApprovalsService, 'watch' | 'get'>; readonly clock: Clock; readonly waitMs: number },
): Promise<void> {
  const until = clock.now() + Math.min(waitMs, call.target.policy.timeoutMs / 2)
  return new Promise((resolve) => {
    let [cancelTimer, removeStopListener] = [(): void => {}, (): void => {}]
    const end = (): void => {
      cancelTimer()
      unsubscribe()
      removeStopListener()
      resolve()
    }
    const tick = (): void => {
      const remainingMs = until - clock.now()
      if (remainingMs > 0) {
        notifyProgress(call, remainingMs)
        cancelTimer = clock.after(Math.min(progressIntervalMs, remainingMs), tick)
      } else end()
    }
    const unsubscribe = approvals.watch((change) => {
      if (change.id === id && change.status !== 'pending') end()
    })
    tick()
    removeStopListener = call.stop.onStop(() => end())
    // The ticket may have been decided between the last read and the subscription.
    approvals.get(id).then(
      (ticket) => {
        if (ticket?.status !== 'pending') end()
      },
      () => {},
    )
  })
}

/** Reports the remaining seconds as a negative number, so that it grows and is lower than the tool's own progress. */
function notifyProgress({ meta, notify, revision }: Call, remainingMs: number): void {
  const { progressToken } = meta
  if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return
  const message = revision === '2024-11-05' ? undefined : 'Waiting for a person to approve this call'
  notify('notifications/progress', {
    progressToken,
    progress: -Math.ceil(remainingMs / 1000),
    ...(message !== undefined && { message }),
  })
}
