/**
 * The gate: nothing gated passes without a ticket that a person approved for exactly this caller, tool, definition,
 * arguments and answers, and what passes is what that ticket holds. Passing claims the ticket in `once`, further in.
 */

import type { Answer } from '../core/answer.ts'
import type { Call, Layer } from '../core/call.ts'
import { anonymous } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import { bugOf, fail, RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import type { Logger } from '../core/log.ts'
import type { Settled } from '../core/once-record.ts'
import { resolveInDoubt } from '../core/once-record.ts'
import type { Seal } from '../core/seal.ts'
import type { Store } from '../core/store.ts'
import type { Ready, Target } from '../core/target.ts'
import { takeArguments } from './arguments.ts'
import { claimOf } from './claim.ts'
import type { Decider } from './deciding.ts'
import { invalidTicket } from './deciding.ts'
import { guarded, isSameEffect, voided } from './effect.ts'
import { hold } from './hold.ts'
import { approvalRequired, declinedToOpen, denied, ticketIn } from './learn.ts'
import type { Office } from './office.ts'
import type { Wanted } from './propose.ts'
import { wantedBy } from './propose.ts'
import type { Verdict } from './rules.ts'
import type { Live } from './shelf.ts'
import type { Proposal } from './ticket.ts'

export interface GateAround {
  readonly office: Office
  /** The server's name, and its version as it is now. */
  readonly name: string
  readonly version: () => string
  /** The part of the store where `once` keeps its claims. */
  readonly own: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly seal: Seal
  /** Rejects where the store is not fit for tickets. */
  readonly ready: () => Promise<void>
  readonly record: (tenant: string, kind: string, fields: Params) => void
  readonly holdMs: number
}

/** What a call asks for as of now, and a way to look again: what it is bound to may change while a person thinks. */
interface Asked {
  readonly wanted: Wanted
  again(): Promise<Asked>
}

/** What is found about a call's ticket: an answer, or that a new one is needed, or that it changed meanwhile. */
type Met = { readonly answer: Answer } | 'new' | 'again'

/** How the gate ends: with an answer, or with work that a grant lets run. */
type Passed = { readonly answer: Answer } | { readonly granted: Ready | undefined }

/** A ticket that changes this often while it is looked at is a store that lies. */
const maxTries = 20

export const gatedBy = (verdict: Verdict, { policy }: Target): Target['policy']['approval'] =>
  verdict.approval === 'tool' ? policy.approval : verdict.approval

export function gate(around: GateAround): Layer {
  const { office, name, version, own, clock, logger, seal, ready, record, holdMs } = around
  const { shelf, time, policy, grants } = office

  return (next) => {
    // Most calls need none, and pass without a promise of this layer's own.
    return (call) => {
      if (call.target.kind !== 'tool') return next(call)
      const verdict = policy.verdict(call, name)
      const approval = gatedBy(verdict, call.target)
      return approval === 'never' ? next(call) : decide(call, verdict, approval)
    }

    async function decide(call: Call, verdict: Verdict, approval: 'always' | 'depends'): Promise<Answer> {
      // Anything but exactly false, and a throw, means yes.
      if (approval === 'depends' && (await call.ready?.gated?.(call).catch(() => true)) === false) return next(call)
      refuseStrangers(call)
      let passed: Passed
      try {
        await ready()
        passed = await gated(call, verdict)
      } catch (thrown) {
        if (thrown instanceof RpcError) throw thrown
        // When a check cannot run, the answer is no.
        logger.error({ event: 'approvalsUnavailable', tool: call.target.name, ...bugOf(thrown) })
        throw new RpcError(
          'storeUnavailable',
          'Approvals cannot be checked right now: nothing was run, try again later',
          {
            cause: thrown,
          },
        )
      }
      return 'answer' in passed ? passed.answer : next({ ...call, ready: passed.granted })
    }

    async function gated(call: Call, verdict: Verdict): Promise<Passed> {
      const { args, ticket, withdrawn } = takeArguments(call.target, call.args)
      const { approver } = office
      const again = async (): Promise<Asked> => ({
        wanted: await wantedBy(call, args, verdict, { server: name, version: version(), approver }),
        again,
      })
      const asked = await again()
      const { wanted } = asked
      if (ticket !== undefined && withdrawn) throw await withdraw(call, ticket, wanted)
      const grant = wanted.needed === 1 && (await grants.covering(wanted, args))
      if (grant) {
        await refuseDenied(wanted)
        call.facts['grant'] = grant.id
        record(wanted.tenant, 'grantUsed', { grant: grant.id, tool: wanted.tool, digest: wanted.digest })
        return { granted: call.ready && guarded(call.ready, wanted.effect) }
      }
      const named = ticket ?? (await ticketIn(call, seal))
      for (let tries = 0; tries < maxTries; tries++) {
        const id = named ?? (await shelf.find(wanted))
        const met = id === undefined ? 'new' : await meet(call, id, asked, named !== undefined)
        if (met === 'again') continue
        if (met !== 'new') return met
        if (named !== undefined) throw invalidTicket()
        const made = await propose(wanted, id)
        if (!made) continue
        call.facts['ticket'] = made.id
        return { answer: await required(call, made, asked) }
      }
      throw new RpcError('storeUnavailable', 'The ticket of this call changes faster than it can be read: try again')
    }

    /** The caller's own no, by the ticket's id: recorded like a person's, and nothing runs. */
    async function withdraw(call: Call, id: string, wanted: Wanted): Promise<RpcError> {
      const proposal = await shelf.proposal(id)
      if (!proposal || proposal.binding !== wanted.binding) throw invalidTicket()
      call.facts['ticket'] = id
      const { subject, credential } = call.caller
      const by: Decider = { subject, credential, via: 'protocol', tenants: [proposal.tenant], operator: false }
      await office.decide(id, { approved: false }, by)
      return denied(proposal, [])
    }

    /** A grant does not outweigh a person who said no to this very call. */
    async function refuseDenied(wanted: Wanted): Promise<void> {
      const id = await shelf.find(wanted)
      if (id === undefined) return
      const [proposal, live, { at }] = await Promise.all([shelf.proposal(id), shelf.live(id), time.now()])
      if (!proposal || live?.state.status !== 'denied' || live.state.until <= at) return
      if (isSameEffect(proposal.effect, wanted.effect)) throw denied(proposal, live.state.decisions)
    }

    /** `named`: the client brought the ticket back by its id; else it was found by what it is bound to. */
    async function meet(call: Call, id: string, asked: Asked, named: boolean): Promise<Met> {
      const [proposal, live, { at, epoch }] = await Promise.all([shelf.proposal(id), shelf.live(id), time.now()])
      if (!proposal || !live || proposal.binding !== asked.wanted.binding || proposal.epoch !== epoch) return 'new'
      call.facts['ticket'] = id
      const { status, decisions, until } = live.state
      if (status === 'void') return 'new'
      if (status !== 'pending' && status !== 'denied') {
        const met = await spent(call, proposal, live, named)
        if (met) return met
      }
      if (until <= at) return 'new'
      const isSame = isSameEffect(proposal.effect, asked.wanted.effect)
      if (status === 'denied') {
        // A client that asks its own human asks again when it calls again.
        if (proposal.approver === 'client' && !named) return 'new'
        // A denial was about something else than this call would do now: a person is asked again.
        if (!isSame) return 'new'
        throw denied(proposal, decisions)
      }
      // Left over by a process that died while it added the ticket.
      if (status === 'pending' && named && (await shelf.find(proposal)) !== id) return 'new'
      if (!isSame) {
        if (!(await office.voidTicket(proposal, live))) return 'again'
        throw voided(proposal.tool, proposal.effect, asked.wanted.effect)
      }
      return status === 'pending' ? pending(call, proposal, asked) : { answer: await run(call, proposal) }
    }

    async function pending(call: Call, proposal: Proposal, asked: Asked): Promise<Met> {
      if (declinedToOpen(call)) throw fail('The person did not open the page where this is approved: nothing was run.')
      return { answer: await required(call, proposal, asked) }
    }

    /** Begun before: by this caller, or by another process for it. `undefined` if it was approved and nobody began. */
    async function spent(call: Call, proposal: Proposal, live: Live, named: boolean): Promise<Met | undefined> {
      const claim = await claimOf(own, proposal, clock)
      if (claim.state === 'started') {
        if (!claim.inDoubt) return { answer: await run(call, proposal) }
        if (live.state.status !== 'approved') return give(call, claim.settled)
        // Whoever claimed it died before it was spent, so nothing ran: the ticket's state comes right before the work.
        const { id, tenant, caller } = proposal
        const name = { ticket: id }
        await resolveInDoubt(own, clock, { tenant, subject: caller.subject, name }, 'did not run')
        return 'again'
      }
      if (claim.state === 'done') {
        await finish(proposal)
        return named ? give(call, claim.settled) : 'new'
      }
      const { state } = live
      if (state.status === 'approved') return undefined
      // An operator found that it did not run, and died before the ticket said so.
      if (state.status === 'running' && claim.state === 'free') {
        await shelf.move(proposal.id, live, { ...state, status: 'approved' })
        return 'again'
      }
      return 'new'
    }

    /** What runs is what was approved, as it is stored, and checked again. */
    async function run(call: Call, proposal: Proposal): Promise<Answer> {
      const args: unknown = JSON.parse(proposal.arguments)
      const given = JSON.parse(proposal.answers) as Params
      const prepared = await call.target.prepare(args)
      if ('issues' in prepared) throw invalidTicket()
      try {
        return await next({ ...call, args, given, ready: spending(prepared, proposal), key: proposal.id })
      } finally {
        await finish(proposal).catch((thrown: unknown) =>
          logger.warn({ event: 'ticketNotFinished', ticket: proposal.id, ...bugOf(thrown) }),
        )
      }
    }

    /**
     * Spends the ticket, after `once` has claimed it and right before the work: the claim alone could be lost with its
     * time, and the state alone cannot say who runs.
     */
    function spending(ready: Ready, proposal: Proposal): Ready {
      const { id, tenant, digest } = proposal
      const checked = guarded(ready, proposal.effect)
      return {
        ...checked,
        async run(call, given) {
          const { at, epoch } = await time.advance()
          const live = await shelf.live(id)
          const status = live?.state.status
          if (live && status === 'denied') throw denied(proposal, live.state.decisions)
          if (!live || status !== 'approved' || live.state.until <= at || proposal.epoch !== epoch)
            throw invalidTicket()
          if (!(await shelf.move(id, live, { ...live.state, status: 'running' }))) throw invalidTicket()
          record(tenant, 'spent', { ticket: id, digest })
          office.changed(id, 'running')
          return checked.run(call, given)
        },
      }
    }

    async function propose(wanted: Wanted, from: string | undefined): Promise<Proposal | undefined> {
      const id = crypto.randomUUID()
      const { tenant, caller } = wanted
      const slot = await shelf.takeSlot(tenant, caller.subject, id, office.maxPending)
      if (slot === undefined)
        throw new RpcError('rateLimited', `There are ${office.maxPending} calls waiting for an approval already`, {
          data: { retryAfterMs: 60_000 },
        })
      const [previous, { at, epoch }] = await Promise.all([shelf.similar(wanted), time.now()])
      const proposal: Proposal = {
        ...wanted,
        id,
        slot,
        createdAt: at,
        expiresAt: at + office.times.decideMs,
        epoch,
        ...(previous !== undefined && { previous }),
      }
      if (!(await shelf.add(proposal, from))) return undefined
      time.passes(proposal.expiresAt + office.times.runMs)
      const { tool, digest, definition } = wanted
      record(tenant, 'proposed', { ticket: id, tool, caller: caller.subject, digest, definition })
      await office.proposed(proposal)
      office.changed(id, 'pending')
      return proposal
    }

    /** A quick human may decide while the call waits. */
    async function required(call: Call, proposal: Proposal, asked: Asked): Promise<Answer> {
      const { id } = proposal
      if (holdMs > 0) {
        await hold(call, id, { desk: office, clock, holdMs })
        if (call.stop.reason) throw call.stop.reason
        const live = await shelf.live(id)
        if (live && live.state.status !== 'pending') {
          const met = await meet(call, id, await asked.again(), true)
          if (typeof met === 'object') return met.answer
        }
      }
      call.facts['approval'] = 'required'
      return approvalRequired(call, proposal, office.urlOf(id), seal, office.times.decideMs)
    }
  }

  /** Best effort: `once` has the truth, and whoever looks at the ticket reads it there. */
  async function finish(proposal: Proposal): Promise<void> {
    const claim = await claimOf(own, proposal, clock)
    if (claim.state !== 'done') return
    const live = await shelf.live(proposal.id)
    if (live?.state.status !== 'running' && live?.state.status !== 'approved') return
    const { status } = claim
    if (await shelf.move(proposal.id, live, { ...live.state, status })) office.changed(proposal.id, status)
  }
}

function give(call: Call, settled: Settled): Met {
  if ('answer' in settled) return { answer: settled.answer }
  const { reason, message, data, reference, cause } = settled
  if (reference !== undefined) call.facts.reference = reference
  throw new RpcError(reason, message, { data, cause })
}

/** Nobody vouched for them, so a ticket could not be bound to anybody. A pipe and this process have one user. */
export function refuseStrangers({ caller, tenant, via }: Call): void {
  const stranger = caller.credential === anonymous.credential && via.transport !== 'stdio' && via.transport !== 'memory'
  if (stranger || tenant.id === '')
    throw new RpcError('forbidden', 'This needs an approval, and approvals are for known callers: sign in first')
}
