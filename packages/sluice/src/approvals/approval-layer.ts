/**
 * The approval layer. A gated call runs only with a ticket that a person approved for exactly this caller, tool,
 * definition, arguments and answers. `propose-ticket.ts` makes the ticket, and `run-ticket.ts` runs the stored call. The
 * idempotency layer, further in, claims the ticket.
 */

import type { Answer } from '../core/answer.ts'
import type { Call, Layer } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import { bugOf, fail, RpcError } from '../core/error.ts'
import type { Seal } from '../core/seal.ts'
import type { Ready, Target } from '../core/target.ts'
import { invalidTicket } from './decide.ts'
import { withEffectCheck } from './effect.ts'
import type { Grant } from './policy/grants.ts'
import type { RuleVerdict } from './policy/rules.ts'
import type { TicketDraft } from './propose-ticket.ts'
import { draftOf, proposeTicket } from './propose-ticket.ts'
import {
  callingClient,
  canAskClient,
  decisionIn,
  isLocal,
  isPipe,
  refuseAnonymous,
  splitArguments,
} from './protocol-decisions.ts'
import { approvalDenied, approvalRequired, declinedToOpen, replyIn, ticketInState, waitForDecision } from './replies.ts'
import type { TicketRunnerDeps } from './run-ticket.ts'
import { createTicketRunner } from './run-ticket.ts'
import type { ApprovalsOptions } from './service.ts'
import type { Proposal } from './ticket.ts'
import { maxTries } from './ticket-store.ts'

export interface ApprovalLayerDeps extends TicketRunnerDeps {
  /** The server's name and its current version. */
  readonly name: string
  readonly version: () => string
  readonly clock: Clock
  readonly seal: Seal
  /** Rejects if the store is not safe for tickets. */
  readonly ready: () => Promise<void>
  readonly waitMs: number
  readonly command: ApprovalsOptions['command']
  /** Whether clients before 2026-07-28 can be asked. */
  readonly asksLegacy: () => boolean
}

/** The result of the check: an answer, or work that a grant allows. */
type ApprovalOutcome = { readonly answer: Answer } | { readonly granted: Ready | undefined }

const effectiveApproval = (verdict: RuleVerdict, { policy }: Target): Target['policy']['approval'] =>
  verdict.approval === 'tool' ? policy.approval : verdict.approval

export function approvalLayer(deps: ApprovalLayerDeps): Layer {
  const { approvals, name, version, clock, logger, seal, ready, waitMs, command, asksLegacy } = deps
  const { service, ticketStore, time, times, rules, grants, approver, record, urlOf } = approvals

  return (next) => {
    const runner = createTicketRunner(deps, next)

    // Most calls need no approval, so they pass without an extra promise.
    return (call) => {
      if (call.target.kind !== 'tool') return next(call)
      const verdict = rules.verdict(call, name)
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
      /** Its effect may change while a person decides. */
      const draftNow = (): Promise<TicketDraft> =>
        draftOf(call, args, verdict, { server: name, version: version(), approver })
      const draft = await draftNow()
      if (ticket !== undefined && withdrawn) throw await withdraw(call, ticket, draft)
      const grant = draft.needed === 1 && (await grants.findCovering(draft, args))
      // An approval of exactly this call is spent first. Otherwise it would still be open when the grant is revoked.
      if (grant && !(await runner.hasApproval(draft))) return runGranted(call, draft, grant)
      const namedByCaller = ticket ?? call.task?.ticket
      const asked = namedByCaller === undefined ? await ticketInState(call, seal) : undefined
      if (asked?.byForm) await takeDecision(call, asked.id, draft)
      const named = namedByCaller ?? asked?.id
      for (let tries = 0; tries < maxTries; tries++) {
        const id = named ?? (await ticketStore.findByBinding(draft))
        const outcome = id === undefined ? 'new' : await runner.use(call, id, draft, named !== undefined)
        if (outcome === 'again') continue
        if (outcome !== 'new' && 'answer' in outcome) return outcome
        if (outcome !== 'new') {
          if (declinedToOpen(call)) throw fail('Not run: the user did not open the approval page.')
          return { answer: await replyApprovalRequired(call, outcome.pending, draftNow) }
        }
        if (grant) return runGranted(call, draft, grant)
        if (named !== undefined) throw invalidTicket()
        const proposal = await proposeTicket(approvals, draft, id, call.task?.id)
        if (!proposal) continue
        call.facts['ticket'] = proposal.id
        return { answer: await replyApprovalRequired(call, proposal, draftNow) }
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
      await service.decide(id, { approved: false }, callingClient(call))
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
      await service.decide(id, decisionIn(reply), callingClient(call)).catch((thrown: unknown) => {
        if (!(thrown instanceof RpcError) || thrown.reason !== 'conflict') throw thrown
      })
    }

    function runGranted(call: Call, draft: TicketDraft, grant: Grant): ApprovalOutcome {
      call.facts['grant'] = grant.id
      record(draft.tenant, 'grantUsed', { grant: grant.id, tool: draft.tool, digest: draft.digest })
      return { granted: call.ready && withEffectCheck(call.ready, draft.effect) }
    }

    /** Answers that an approval is required, after it has waited `waitMs` for a quick decision. */
    async function replyApprovalRequired(
      call: Call,
      proposal: Proposal,
      draftNow: () => Promise<TicketDraft>,
    ): Promise<Answer> {
      const { id } = proposal
      // A client that asks its own human needs the ticket's id, which a task does not name.
      if (call.task && proposal.approver !== 'client') {
        call.facts['approval'] = 'required'
        const decideMs = Math.max(0, proposal.expiresAt - (await time.now()).at)
        const ticket = { id, url: urlOf(id), decideMs, runMs: times.runMs }
        return call.task.approvalRequired(ticket, call.answers)
      }
      if (waitMs > 0 && !canAskClient(call, proposal, asksLegacy())) {
        await waitForDecision(call, id, { approvals: service, clock, waitMs })
        if (call.stop.reason) throw call.stop.reason
        const live = await ticketStore.readState(id)
        if (live && live.state.status !== 'pending') {
          const outcome = await runner.use(call, id, await draftNow(), true)
          if (typeof outcome === 'object' && 'answer' in outcome) return outcome.answer
        }
      }
      call.facts['approval'] = 'required'
      return approvalRequired(call, proposal, {
        url: urlOf(id),
        // It names folders of this machine, which are for people on it.
        command: isPipe(call.via) ? command?.(id) : undefined,
        ...{ seal, ttlMs: times.decideMs, asksLegacy: asksLegacy() },
      })
    }
  }
}
