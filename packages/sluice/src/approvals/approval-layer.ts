/**
 * The approval layer. A gated call runs only with a ticket that a person approved for exactly this caller, tool,
 * definition, arguments and answers. `propose-ticket.ts` makes the ticket, and `run-ticket.ts` runs the stored call. The
 * idempotency layer, further in, claims the ticket.
 */

import type { Answer } from '../core/answer.ts'
import type { Call, Layer } from '../core/call.ts'
import { anonymous } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import { bugOf, fail, RpcError } from '../core/error.ts'
import { replay, resolveInDoubt } from '../core/idempotency-record.ts'
import type { Seal } from '../core/seal.ts'
import type { Ready, Target } from '../core/target.ts'
import { splitArguments } from './arguments.ts'
import { callingClient, canAskClient, decisionIn } from './ask-client.ts'
import type { TicketDraft } from './binding.ts'
import { bindingOf } from './binding.ts'
import { claimOf } from './claim.ts'
import { invalidTicket } from './decide.ts'
import { approvalVoid, isSameEffect, withEffectCheck } from './effect.ts'
import type { Grant } from './grants.ts'
import { isLocal, isPipe } from './local-caller.ts'
import { proposeTicket } from './propose-ticket.ts'
import { approvalDenied, approvalRequired, declinedToOpen, replyIn, ticketInState } from './replies.ts'
import type { RuleVerdict } from './rules.ts'
import type { TicketRunnerDeps } from './run-ticket.ts'
import { createTicketRunner } from './run-ticket.ts'
import type { Proposal } from './ticket.ts'
import type { VersionedState } from './ticket-store.ts'
import { maxTries } from './ticket-store.ts'
import { waitForDecision } from './wait-for-decision.ts'

export interface ApprovalLayerDeps extends TicketRunnerDeps {
  /** The server's name and its current version. */
  readonly name: string
  readonly version: () => string
  readonly clock: Clock
  readonly seal: Seal
  /** Rejects if the store is not safe for tickets. */
  readonly ready: () => Promise<void>
  readonly waitMs: number
  /** Whether clients before 2026-07-28 can be asked. */
  readonly asksLegacy: () => boolean
}

/** The draft of a call as of now. `refresh` computes it again, because its effect may change while a person decides. */
interface CurrentDraft {
  readonly draft: TicketDraft
  refresh(): Promise<CurrentDraft>
}

/** The result of using a ticket: an answer, `new` if the call needs a new ticket, or `again` if it changed meanwhile. */
type TicketOutcome = { readonly answer: Answer } | 'new' | 'again'

/** The result of the check: an answer, or work that a grant allows. */
type ApprovalOutcome = { readonly answer: Answer } | { readonly granted: Ready | undefined }

const effectiveApproval = (verdict: RuleVerdict, { policy }: Target): Target['policy']['approval'] =>
  verdict.approval === 'tool' ? policy.approval : verdict.approval

export function approvalLayer(deps: ApprovalLayerDeps): Layer {
  const { engine, name, version, serverStore, clock, logger, seal, ready, record, waitMs, asksLegacy } = deps
  const { ticketStore, time, policy, grants } = engine

  return (next) => {
    const tickets = createTicketRunner(deps, next)

    // Most calls need no approval, so they pass without an extra promise.
    return (call) => {
      if (call.target.kind !== 'tool') return next(call)
      const verdict = policy.verdict(call, name)
      const approval = effectiveApproval(verdict, call.target)
      return approval === 'never' ? next(call) : checkApproval(call, verdict, approval)
    }

    async function checkApproval(call: Call, verdict: RuleVerdict, approval: 'always' | 'depends'): Promise<Answer> {
      // Only exactly `false` means that no approval is needed. A throw means that one is.
      if (approval === 'depends' && (await call.ready?.needsApproval?.(call).catch(() => true)) === false)
        return next(call)
      refuseAnonymous(call)
      let passed: ApprovalOutcome
      try {
        await ready()
        passed = await gated(call, verdict)
      } catch (thrown) {
        if (thrown instanceof RpcError) throw thrown
        // If a check cannot run, the call is refused.
        logger.error({ event: 'approvalsUnavailable', tool: call.target.name, ...bugOf(thrown) })
        throw new RpcError('storeUnavailable', 'Not run: approvals cannot be checked right now. Try again later', {
          cause: thrown,
        })
      }
      return 'answer' in passed ? passed.answer : next({ ...call, ready: passed.granted })
    }

    async function gated(call: Call, verdict: RuleVerdict): Promise<ApprovalOutcome> {
      const { args, ticket, withdrawn } = splitArguments(call.target, call.args)
      const { approver } = engine
      const refresh = async (): Promise<CurrentDraft> => ({
        draft: await bindingOf(call, args, verdict, { server: name, version: version(), approver }),
        refresh,
      })
      const current = await refresh()
      const { draft } = current
      if (ticket !== undefined && withdrawn) throw await withdraw(call, ticket, draft)
      const grant = draft.needed === 1 && (await grants.findCovering(draft, args))
      // An approval of exactly this call is spent first. Otherwise it would still be open when the grant is revoked.
      if (grant && !(await hasApproval(draft))) return runGranted(call, draft, grant)
      const namedByCaller = ticket ?? call.task?.ticket
      const asked = namedByCaller === undefined ? await ticketInState(call, seal) : undefined
      if (asked?.byForm) await takeDecision(call, asked.id, draft)
      const named = namedByCaller ?? asked?.id
      for (let tries = 0; tries < maxTries; tries++) {
        const id = named ?? (await ticketStore.findByBinding(draft))
        const outcome = id === undefined ? 'new' : await useTicket(call, id, current, named !== undefined)
        if (outcome === 'again') continue
        if (outcome !== 'new') return outcome
        if (grant) return runGranted(call, draft, grant)
        if (named !== undefined) throw invalidTicket()
        const proposal = await proposeTicket(deps, draft, { replaces: id, task: call.task?.id })
        if (!proposal) continue
        call.facts['ticket'] = proposal.id
        return { answer: await replyApprovalRequired(call, proposal, current) }
      }
      throw new RpcError(
        'storeUnavailable',
        'Not run: the ticket of this call changes faster than it can be read. Try again',
      )
    }

    /** Withdraws the caller's own ticket. It is recorded like a person's denial, and nothing runs. */
    async function withdraw(call: Call, id: string, draft: TicketDraft): Promise<RpcError> {
      const proposal = await ticketStore.readProposal(id)
      if (!proposal || proposal.binding !== draft.binding) throw invalidTicket()
      call.facts['ticket'] = id
      await engine.decide(id, { approved: false }, callingClient(call))
      return approvalDenied(proposal, [])
    }

    /** Takes the decision that the client's user made in our form. A decision of another person meanwhile stays. */
    async function takeDecision(call: Call, id: string, draft: TicketDraft): Promise<void> {
      const reply = replyIn(call)
      if (reply === undefined) return
      const proposal = await ticketStore.readProposal(id)
      if (!proposal || proposal.binding !== draft.binding || !isLocal(call.via)) throw invalidTicket()
      call.facts['ticket'] = id
      // On earlier revisions the round that asked has the same facts.
      call.facts['approval'] = undefined
      await engine.decide(id, decisionIn(reply), callingClient(call)).catch((thrown: unknown) => {
        if (!(thrown instanceof RpcError) || thrown.reason !== 'conflict') throw thrown
      })
    }

    function runGranted(call: Call, draft: TicketDraft, grant: Grant): ApprovalOutcome {
      call.facts['grant'] = grant.id
      record(draft.tenant, 'grantUsed', { grant: grant.id, tool: draft.tool, digest: draft.digest })
      return { granted: call.ready && withEffectCheck(call.ready, draft.effect) }
    }

    /**
     * Whether a person approved exactly this call, and it has not been spent. Throws if a person denied it, because a
     * grant does not override a denial.
     */
    async function hasApproval(draft: TicketDraft): Promise<boolean> {
      const id = await ticketStore.findByBinding(draft)
      if (id === undefined) return false
      const [proposal, live, { at, epoch }] = await Promise.all([
        ticketStore.readProposal(id),
        ticketStore.readState(id),
        time.now(),
      ])
      if (!proposal || !live || live.state.until <= at || !isSameEffect(proposal.effect, draft.effect)) return false
      if (live.state.status === 'denied') throw approvalDenied(proposal, live.state.decisions)
      return live.state.status === 'approved' && proposal.epoch === epoch
    }

    /** `named`: the client sent the ticket's id. Otherwise the ticket was found by its binding. */
    async function useTicket(call: Call, id: string, current: CurrentDraft, named: boolean): Promise<TicketOutcome> {
      const [proposal, live, { at, epoch }] = await Promise.all([
        ticketStore.readProposal(id),
        ticketStore.readState(id),
        time.now(),
      ])
      if (!proposal || !live || proposal.binding !== current.draft.binding || proposal.epoch !== epoch) return 'new'
      call.facts['ticket'] = id
      const { status, decisions, until } = live.state
      if (status === 'void') return 'new'
      if (status !== 'pending' && status !== 'denied') {
        const outcome = await replaySpent(call, proposal, live, named)
        if (outcome) return outcome
      }
      if (until <= at) return 'new'
      const isSame = isSameEffect(proposal.effect, current.draft.effect)
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
        if (!(await engine.voidTicket(proposal, live))) return 'again'
        throw approvalVoid(proposal.tool, proposal.effect, current.draft.effect)
      }
      return status === 'pending' ? pending(call, proposal, current) : { answer: await tickets.run(call, proposal) }
    }

    async function pending(call: Call, proposal: Proposal, current: CurrentDraft): Promise<TicketOutcome> {
      if (declinedToOpen(call)) throw fail('Not run: the user did not open the approval page.')
      return { answer: await replyApprovalRequired(call, proposal, current) }
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
        if (!claim.inDoubt) return { answer: await tickets.run(call, proposal) }
        if (live.state.status !== 'approved') return { answer: replay(call, claim.settled) }
        // The claiming process died before it spent the ticket. Spending comes right before the work, so nothing ran.
        const { id, tenant, caller } = proposal
        const name = { ticket: id }
        await resolveInDoubt(serverStore, { tenant, subject: caller.subject, name }, 'did not run')
        return 'again'
      }
      if (claim.state === 'done') {
        await tickets.recordCompletion(proposal)
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

    /** Answers that an approval is required, after it has waited `waitMs` for a quick decision. */
    async function replyApprovalRequired(call: Call, proposal: Proposal, current: CurrentDraft): Promise<Answer> {
      const { id } = proposal
      // A client that asks its own human needs the ticket's id, which a task does not name.
      if (call.task && proposal.approver !== 'client') {
        call.facts['approval'] = 'required'
        const decideMs = Math.max(0, proposal.expiresAt - (await time.now()).at)
        const ticket = { id, url: engine.urlOf(id), decideMs, runMs: engine.times.runMs }
        return call.task.approvalRequired(ticket, call.answers)
      }
      if (waitMs > 0 && !canAskClient(call, proposal, asksLegacy())) {
        await waitForDecision(call, id, { approvals: engine, clock, waitMs })
        if (call.stop.reason) throw call.stop.reason
        const live = await ticketStore.readState(id)
        if (live && live.state.status !== 'pending') {
          const outcome = await useTicket(call, id, await current.refresh(), true)
          if (typeof outcome === 'object') return outcome.answer
        }
      }
      call.facts['approval'] = 'required'
      return approvalRequired(call, proposal, {
        url: engine.urlOf(id),
        // It names folders of this machine, which are for people on it.
        command: isPipe(call.via) ? engine.commandOf(id) : undefined,
        ...{ seal, ttlMs: engine.times.decideMs, asksLegacy: asksLegacy() },
      })
    }
  }
}

/**
 * Refuses anonymous network callers, because a ticket must name a caller. stdio and in-process calls have exactly one
 * user.
 */
export function refuseAnonymous({ caller, tenant, via }: Call): void {
  const isAnonymous =
    caller.credential === anonymous.credential && via.transport !== 'stdio' && via.transport !== 'memory'
  if (isAnonymous || tenant.id === '')
    throw new RpcError('forbidden', 'This call needs an approval, and an approval needs a known caller: sign in first')
}
