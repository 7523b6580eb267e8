/** Runs the stored call of an approved ticket: spends the ticket right before the work, and writes how it ended. */

import type { Answer } from '../core/answer.ts'
import type { AskedInCall, Call, Handler } from '../core/call.ts'
import { bugOf, fail, RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import type { Logger } from '../core/log.ts'
import type { Store } from '../core/store.ts'
import type { Ready } from '../core/target.ts'
import { claimOf } from './claim.ts'
import { invalidTicket } from './decide.ts'
import { withEffectCheck } from './effect.ts'
import type { ApprovalEngine } from './engine.ts'
import { approvalDenied } from './replies.ts'
import type { Proposal } from './ticket.ts'
import { maxTries } from './ticket-store.ts'

export interface TicketRunnerDeps {
  readonly engine: ApprovalEngine
  /** The part of the store where the idempotency layer keeps its claims. */
  readonly serverStore: Store
  readonly logger: Logger
  readonly record: (tenant: string, kind: string, fields: Params) => void
}

export interface TicketRunner {
  /** Runs the stored arguments and answers, which are the approved ones, after it validates them again. */
  run(call: Call, proposal: Proposal): Promise<Answer>
  /** Copies the outcome into the ticket. Best effort, because readers take it from the idempotency record anyway. */
  recordCompletion(proposal: Proposal): Promise<void>
}

/** Questions that one ticket can hold. */
const maxQuestions = 50

/** `next` has the idempotency layer, which claims the ticket. */
export function createTicketRunner(
  { engine, serverStore, logger, record }: TicketRunnerDeps,
  next: Handler,
): TicketRunner {
  const { ticketStore, time } = engine
  return { run, recordCompletion }

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
        engine.notifyChange(id, 'running')
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
      engine.notifyChange(id, live.state.status)
      return
    }
    throw new RpcError('storeUnavailable', 'The question could not be written to the ticket of this call. Try again')
  }

  async function recordCompletion(proposal: Proposal, ended?: { readonly at: number }): Promise<void> {
    const claim = await claimOf(serverStore, proposal)
    if (claim.state !== 'done') return
    const live = await ticketStore.readState(proposal.id)
    if (live?.state.status !== 'running' && live?.state.status !== 'approved') return
    const { status } = claim
    const to = { ...live.state, status, ...(ended && { endedAt: ended.at }) }
    if (await ticketStore.transition(proposal.id, live, to)) engine.notifyChange(proposal.id, status)
  }
}
