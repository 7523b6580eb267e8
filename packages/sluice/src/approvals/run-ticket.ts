/**
 * Uses the ticket of a call: refuses if a person denied it, replays what was run before, and runs what is approved. It
 * spends the ticket right before the work, and writes how the work ended.
 */

import type { Answer } from '../core/answer.ts'
import type { AskedInCall, Call, Handler } from '../core/call.ts'
import { bugOf, fail, RpcError } from '../core/error.ts'
import { replay, resolveInDoubt } from '../core/idempotency-record.ts'
import type { Params } from '../core/json.ts'
import type { Logger } from '../core/log.ts'
import type { Store } from '../core/store.ts'
import type { Ready } from '../core/target.ts'
import { invalidTicket } from './decide.ts'
import { approvalVoid, isSameEffect, withEffectCheck } from './effect.ts'
import type { TicketDraft } from './propose-ticket.ts'
import { approvalDenied } from './replies.ts'
import type { SharedApprovals } from './service.ts'
import type { Proposal } from './ticket.ts'
import type { VersionedState } from './ticket-store.ts'
import { maxTries } from './ticket-store.ts'
import { claimOf } from './ticket-view.ts'
import type { Moment } from './time.ts'

export interface TicketRunnerDeps {
  readonly approvals: SharedApprovals
  /** The part of the store where the idempotency layer keeps its claims. */
  readonly serverStore: Store
  readonly logger: Logger
}

/** The outcome of a ticket. `new`: the call needs a new ticket. `again`: the ticket changed meanwhile. */
export type TicketOutcome = { readonly answer: Answer } | { readonly pending: Proposal } | 'new' | 'again'

export interface TicketRunner {
  /**
   * Whether a person approved exactly this call, and it has not been spent. Throws if a person denied it, because a grant
   * does not override a denial.
   */
  hasApproval(draft: TicketDraft): Promise<boolean>
  /** Uses a ticket. `named`: the client sent its id. Otherwise it was found by its binding. */
  use(call: Call, id: string, draft: TicketDraft, named: boolean): Promise<TicketOutcome>
}

/** Questions that one ticket can hold. */
const maxQuestions = 50

/** `next` has the idempotency layer, which claims the ticket. */
export function createTicketRunner({ approvals, serverStore, logger }: TicketRunnerDeps, next: Handler): TicketRunner {
  const { ticketStore, time, record, notifyChange, voidTicket } = approvals
  return { hasApproval, use }

  async function hasApproval(draft: TicketDraft): Promise<boolean> {
    const id = await ticketStore.findByBinding(draft)
    if (id === undefined) return false
    const [proposal, live, { at, epoch }] = await read(id)
    if (!proposal || !live || live.state.until <= at || !isSameEffect(proposal.effect, draft.effect)) return false
    if (live.state.status === 'denied') throw approvalDenied(proposal, live.state.decisions)
    return live.state.status === 'approved' && proposal.epoch === epoch
  }

  function read(id: string): Promise<[Proposal | undefined, VersionedState | undefined, Moment]> {
    return Promise.all([ticketStore.readProposal(id), ticketStore.readState(id), time.now()])
  }

  async function use(call: Call, id: string, draft: TicketDraft, named: boolean): Promise<TicketOutcome> {
    const [proposal, live, { at, epoch }] = await read(id)
    if (!proposal || !live || proposal.binding !== draft.binding || proposal.epoch !== epoch) return 'new'
    call.facts['ticket'] = id
    const { status, decisions, until } = live.state
    if (status === 'void') return 'new'
    if (status !== 'pending' && status !== 'denied') {
      const outcome = await replaySpent(call, proposal, live, named)
      if (outcome) return outcome
    }
    if (until <= at) return 'new'
    const isSame = isSameEffect(proposal.effect, draft.effect)
    if (status === 'denied') {
      // With the approver `client`, a repeated call asks its user again.
      if (proposal.approver === 'client' && !named) return 'new'
      // The denied effect differs from what this call would do now, so a person is asked again.
      if (!isSame) return 'new'
      throw approvalDenied(proposal, decisions)
    }
    // A process died while it added this ticket, so the ticket does not exist.
    if (status === 'pending' && named && (await ticketStore.findByBinding(proposal)) !== id) return 'new'
    if (!isSame) {
      if (!(await voidTicket(proposal, live))) return 'again'
      throw approvalVoid(proposal.tool, proposal.effect, draft.effect)
    }
    return status === 'pending' ? { pending: proposal } : { answer: await run(call, proposal) }
  }

  /** Replays a ticket that was run before, in this or another process. `undefined` if it is approved and not yet run. */
  async function replaySpent(
    call: Call,
    proposal: Proposal,
    live: VersionedState,
    named: boolean,
  ): Promise<TicketOutcome | undefined> {
    const claim = await claimOf(serverStore, proposal)
    if (claim.state === 'started') {
      if (!claim.inDoubt) return { answer: await run(call, proposal) }
      if (live.state.status !== 'approved') return { answer: replay(call, claim.settled) }
      // The claiming process died before it spent the ticket. Spending comes right before the work, so nothing ran.
      const { id, tenant, caller } = proposal
      const name = { ticket: id }
      await resolveInDoubt(serverStore, { tenant, subject: caller.subject, name }, 'did not run')
      return 'again'
    }
    if (claim.state === 'done') {
      await recordCompletion(proposal)
      return named ? { answer: replay(call, claim.settled) } : 'new'
    }
    const { state } = live
    if (state.status === 'approved') return undefined
    // An operator resolved it as not run, and the process died before it wrote the ticket's state.
    if (state.status === 'running' && claim.state === 'free') {
      await ticketStore.transition(proposal.id, live, { ...state, status: 'approved' })
      return 'again'
    }
    return 'new'
  }

  /** Runs the stored arguments and answers, which are the approved ones, after it validates them again. */
  async function run(call: Call, proposal: Proposal): Promise<Answer> {
    const args: unknown = JSON.parse(proposal.arguments)
    const answers = JSON.parse(proposal.answers) as Params
    const prepared = await call.target.prepare(args)
    if ('issues' in prepared) throw invalidTicket()
    try {
      return await next({
        ...call,
        args,
        answers,
        ready: spendBeforeRun(prepared, proposal),
        ticketId: proposal.id,
      })
    } finally {
      await recordCompletion(proposal, await time.now().catch(() => undefined)).catch((thrown: unknown) =>
        logger.warn({ event: 'ticketNotFinished', ticket: proposal.id, ...bugOf(thrown) }),
      )
    }
  }

  /**
   * Spends the ticket after the idempotency layer has claimed it, right before the work. Both are needed, because the
   * claim alone can expire and the state alone does not say which process runs.
   */
  function spendBeforeRun(ready: Ready, proposal: Proposal): Ready {
    const { id, tenant, digest } = proposal
    const checked = withEffectCheck(ready, proposal.effect)
    return {
      ...checked,
      async run(call, answers) {
        const { at, epoch } = await time.advance()
        const live = await ticketStore.readState(id)
        const status = live?.state.status
        if (live && status === 'denied') throw approvalDenied(proposal, live.state.decisions)
        if (!live || status !== 'approved' || live.state.until <= at || proposal.epoch !== epoch) throw invalidTicket()
        const spent = { ...live.state, status: 'running', startedAt: at } as const
        if (!(await ticketStore.transition(id, live, spent))) throw invalidTicket()
        record(tenant, 'spent', { ticket: id, digest })
        notifyChange(id, 'running')
        return checked.run({ ...call, recordQuestion: (asked) => recordQuestion(id, asked) }, answers)
      },
    }
  }

  /** Puts a question of the work on the ticket, or its answer. Throws if it cannot be written. */
  async function recordQuestion(id: string, asked: AskedInCall): Promise<void> {
    for (let tries = 0; tries < maxTries; tries++) {
      const live = await ticketStore.readState(id)
      if (!live) throw invalidTicket()
      const earlier = live.state.questions ?? []
      // An answer takes the place of its question, so that the ticket keeps the order of the questions.
      const isAnswer = earlier.some(({ key }) => key === asked.key)
      if (!isAnswer && earlier.length >= maxQuestions) throw fail(`The tool asked more than ${maxQuestions} questions`)
      const questions = isAnswer ? earlier.map((each) => (each.key === asked.key ? asked : each)) : [...earlier, asked]
      if (!(await ticketStore.transition(id, live, { ...live.state, questions }))) continue
      notifyChange(id, live.state.status)
      return
    }
    throw new RpcError('storeUnavailable', 'The question could not be written to the ticket of this call. Try again')
  }

  /** Copies the outcome into the ticket. Best effort, because readers take it from the idempotency record anyway. */
  async function recordCompletion(proposal: Proposal, ended?: { readonly at: number }): Promise<void> {
    const claim = await claimOf(serverStore, proposal)
    if (claim.state !== 'done') return
    const live = await ticketStore.readState(proposal.id)
    if (live?.state.status !== 'running' && live?.state.status !== 'approved') return
    const { status } = claim
    const to = { ...live.state, status, ...(ended && { endedAt: ended.at }) }
    if (await ticketStore.transition(proposal.id, live, to)) notifyChange(proposal.id, status)
  }
}
