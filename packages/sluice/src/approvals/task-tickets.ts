/** What tasks need to know of the tickets that they wait for. They never decide. */

import type { Tickets } from '../core/plugin.ts'
import type { ApprovalEngine } from './engine.ts'

export const ticketsOf = (engine: ApprovalEngine): Tickets => ({
  async isPending(id) {
    const [live, { at }] = await Promise.all([engine.ticketStore.readState(id), engine.time.now()])
    return live?.state.status === 'pending' && live.state.until > at
  },
  async withdraw(id, { caller, tenant }) {
    const { subject, credential } = caller
    const by = { subject, credential, via: 'protocol' as const, tenants: [tenant.id], operator: false }
    await engine.decide(id, { approved: false }, by)
  },
})
