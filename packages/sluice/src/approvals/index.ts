/**
 * Approvals: calls that a person must allow first, and the service through which people do. A ticket begins in
 * `approval-layer.ts` and `propose-ticket.ts`, its caller hears of it through `replies.ts`, a person decides it in
 * `decide.ts`, and `run-ticket.ts` spends it.
 */

import type { Bus } from '../core/bus.ts'
import type { Clock } from '../core/clock.ts'
import { systemClock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import { silentLogger } from '../core/log.ts'
import type { AuditLog, SlotPlugin } from '../core/plugin.ts'
import { noAudit } from '../core/plugin.ts'
import { createSeal } from '../core/seal.ts'
import type { Store } from '../core/store.ts'
import type { Target } from '../core/target.ts'
import { memoryBus } from '../stores/memory-bus.ts'
import { approvalLayer } from './approval-layer.ts'
import { callingClient, respond } from './protocol-decisions.ts'
import type { ApprovalsOptions, ApprovalsService } from './service.ts'
import { createSharedApprovals } from './service.ts'

export type { Decider } from './decide.ts'
export type { Grant, GrantArguments, GrantQuery, Grants, GrantsOptions, NewGrant } from './policy/grants.ts'
export type { Hint, Rule, RuleSubject, RuleVerdict, RuleView } from './policy/rules.ts'
export { approvalArguments } from './protocol-decisions.ts'
export type { ApprovalsOptions, ApprovalsService, TicketChange, TicketQuery } from './service.ts'
export type { MarkedPiece } from './text/marked-text.ts'
export { markedPieces, markedText } from './text/marked-text.ts'
export type { ReadableAnswer } from './text/readable.ts'
export { callParts, effectLines, readableAnswer } from './text/readable.ts'
export type { Approver, Decision, DecisionChannel, Proposal, TicketStatus, TicketView } from './ticket.ts'
export type { RunResult } from './ticket-view.ts'
export type { TimeMark } from './time.ts'
export { readApprovalTime } from './time.ts'
export type { WebhookFormat } from './webhook/formats.ts'
export type { HeaderLookup } from './webhook/signature.ts'
export type { WebhookOptions, WebhookPost } from './webhook/webhook.ts'

/** What approvals are bound to when they are made. */
export interface CreateApprovalsOptions extends ApprovalsOptions {
  /** The store of the servers: tickets, rules and grants of all of them are there. */
  readonly store: Store
  /** The bus of the servers. By default changes are announced within this process only. */
  readonly bus?: Bus | undefined
  readonly clock?: Clock
  readonly logger?: Logger
  /** Records what people decide. Needed if the servers have an audit. */
  readonly audit?: AuditLog | undefined
}

/** Approvals of all servers that share a store: a plugin for each of them, and the service through which people decide. */
export interface Approvals extends ApprovalsService, SlotPlugin<'approvals'> {
  /** Ends timers and the webhook. The last server that closes calls it; programs without a server call it themselves. */
  close(): void
}

/** Creates the approvals of all servers that share a store: `createServer(definition, { store, use: [approvals, …] })`. */
export function createApprovals(options: CreateApprovalsOptions): Approvals {
  const { store, bus = memoryBus(), clock = systemClock, logger = silentLogger, audit = noAudit } = options
  const approvals = createSharedApprovals({ store, bus, clock, logger, record: audit.record }, options)
  let servers = 0
  let isChecked = false
  /** Checks again until the store passes: a store that was unavailable at the start is not unfit. */
  async function ready(): Promise<void> {
    if (isChecked) return
    await approvals.ready()
    isChecked = true
  }

  return {
    slot: 'approvals',
    // It spends a ticket once.
    needs: 'idempotency',
    create(services) {
      const { name, serverStore, secrets } = services
      if (services.store !== store)
        throw new TypeError('approvals: servers share a store with their approvals, so pass the same "store" to both')
      if (services.audit.record !== audit.record)
        throw new TypeError(
          'approvals: decisions must be in the audit of the server. Make one with createAudit({ store }), pass it to createApprovals as "audit", and add it to "use"',
        )
      let version = ''
      let asksLegacy = false
      servers++
      return {
        layer: approvalLayer({
          ...{ approvals, name, serverStore, clock: services.clock, logger: services.logger, ready },
          command: options.command,
          version: () => version,
          seal: createSeal(secrets, `state ${name}`, services.clock),
          waitMs: options.waitMs ?? 0,
          asksLegacy: () => asksLegacy,
        }),
        methods: [respond(approvals)],
        // Tasks wait for tickets and withdraw them, and never approve.
        tickets: {
          async isPending(id) {
            const [live, { at }] = await Promise.all([approvals.ticketStore.readState(id), approvals.time.now()])
            return live?.state.status === 'pending' && live.state.until > at
          },
          withdraw: (id, call) => approvals.withdraw(id, callingClient(call)),
        },
        accepts(definition, { exposed, authenticated, asksLegacy: hasBridge }) {
          const { tools = [] } = definition
          const gated = exposed && !authenticated && tools.find((tool) => approvals.rules.mayNeedApproval(tool, name))
          if (gated) throw anonymousCallers(gated)
          version = definition.version
          asksLegacy = hasBridge
        },
        ready,
        async close() {
          if (--servers === 0) approvals.close()
        },
      }
    },
    ...approvals.service,
    close: approvals.close,
  }
}

/** An approval is worth nothing if any caller can claim any name. */
const anonymousCallers = ({ name }: Target): TypeError =>
  new TypeError(
    `tool "${name}" needs approvals, so network callers must be known: add authenticate({ … }) to "use", or serve it on stdio`,
  )
