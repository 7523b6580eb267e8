/** Approvals: calls that a person must allow first, and the desk where people do. */

import type { Part, Piece, Surroundings } from '../core/part.ts'
import { createSeal } from '../core/seal.ts'
import type { Store } from '../core/store.ts'
import type { Target } from '../core/target.ts'
import { approvalLayer } from './approval-layer.ts'
import type { Desk, DeskOptions } from './desk.ts'
import type { Office } from './office.ts'
import { createOffice } from './office.ts'
import { respond } from './respond.ts'
import { createRules } from './rules.ts'

export { approvalArguments } from './arguments.ts'
export type { Decider } from './decide.ts'
export type { Desk, DeskOptions, TicketChange, TicketQuery } from './desk.ts'
export { effectLines } from './effect.ts'
export type { Grant, GrantArguments, GrantQuery, Grants, GrantsOptions, NewGrant } from './grants.ts'
export type { MarkedPiece } from './marked-text.ts'
export { markedPieces, markedText } from './marked-text.ts'
export type { Hint, Rule, RuleView } from './rules.ts'
export type { HeaderLookup } from './signature.ts'
export type { Approver, Decision, DecisionChannel, Proposal, TicketStatus, TicketView } from './ticket.ts'
export type { TimeMark } from './time.ts'
export { readApprovalTime } from './time.ts'
export type { WebhookOptions, WebhookPost } from './webhook.ts'

/** What `approvals` takes: the desk’s options, and how long a call waits for a quick decision. */
export interface ApprovalsOptions extends DeskOptions {
  /**
   * How long a call waits for a quick human before it is answered that an approval is needed: not at all unless said. It
   * holds the call's slot and eats its time, of which at most half.
   */
  readonly waitMs?: number
}

/** An approval is worth nothing where anybody can be anybody. */
const anonymousCallersError = ({ name }: Target): TypeError =>
  new TypeError(
    `tool "${name}" needs approvals, so over a network callers must be known: add authenticate: authenticate({ … }) to the options of createServer, or serve it on stdio`,
  )

/** A part for `createServer`, and the desk of all servers it was given to. They share one store. */
export type Approvals = Part<'approvals'> & Desk

/**
 * `const desk = approvals({ … })`, then `createServer(definition, { approvals: desk, once: once(), … })` for each server.
 * Without a server, as in a command, `desk(surroundings({ name, store }))` puts it on a store.
 */
export function approvals(options: ApprovalsOptions = {}): Approvals {
  let bound: { readonly store: Store; readonly office: Office } | undefined
  let servers = 0

  function officeOn(services: Surroundings): Office {
    bound ??= { store: services.store, office: createOffice(services, options) }
    if (bound.store !== services.store)
      throw new TypeError(
        'approvals: servers that share a desk share a store: give createServer the same store for each',
      )
    return bound.office
  }
  function office(): Office {
    if (!bound) throw new TypeError('approvals: there is no store yet: give this to createServer first')
    return bound.office
  }

  function part(services: Surroundings): Piece<'approvals'> {
    const here = officeOn(services)
    const { name, own, clock, logger, secrets, record } = services
    let version = ''
    // Asked again until it is fit: a store that was away at the start is not unfit.
    let fit = false
    async function ready(): Promise<void> {
      if (fit) return
      await here.ready()
      fit = true
    }
    servers++
    return {
      part: 'approvals',
      layer: approvalLayer({
        ...{ office: here, name, serverStore: own, clock, logger, record, ready },
        version: () => version,
        seal: createSeal(secrets, `state ${name}`, clock),
        waitMs: options.waitMs ?? 0,
      }),
      methods: [respond(here)],
      defined({ info, tools = [] }, { exposed, authenticated }) {
        const gated = exposed && !authenticated && tools.find((tool) => rules.mayNeedApproval(tool, name))
        if (gated) throw anonymousCallersError(gated)
        version = info.version
      },
      ready,
      async close() {
        if (--servers === 0) here.close()
      },
    }
  }

  const rules = createRules(options.rules)
  const desk: Desk = {
    list: async (query) => office().list(query),
    get: async (id) => office().get(id),
    pending: async (tenants) => office().pending(tenants),
    decide: async (id, decision, by) => office().decide(id, decision, by),
    resolve: async (id, verdict, by) => office().resolve(id, verdict, by),
    acceptsWebhook: options.webhook !== undefined,
    handleWebhook: async (header, body) => office().handleWebhook(header, body),
    watch: (listener) => office().watch(listener),
    rules: rules.views,
    grants: {
      maxMs: options.grants?.maxMs ?? 0,
      list: async (query) => office().grants.list(query),
      create: async (grant, by) => office().grants.create(grant, by),
      revoke: async (id, by) => office().grants.revoke(id, by),
    },
  }
  return Object.assign(part, desk)
}
