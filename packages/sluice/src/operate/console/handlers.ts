/** What each route of the table does. Its types come from there, so an answer that is not as documented does not compile. */

import type { Input, Operator, Output, RouteName, Session } from './api.ts'
import { judgeAudit, refuseTenant, searchAudit } from './audit.ts'
import type { Panel } from './panel.ts'
import { keysOf, revokeKey, tenantsOf } from './tenants.ts'
import { decide, grantFor, listGrants, listTickets, resolve, revokeGrant, ticketOf } from './tickets.ts'
import { serversOf } from './tools.ts'

/** Who asks, as far as handlers need to know. */
export interface Asker {
  readonly operator: Operator
  readonly credential: string
  readonly csrf: string
  readonly expiresAt: number
}

type Handled = Exclude<RouteName, 'signIn' | 'signOut'>
type Table = { readonly [Name in Handled]: (input: Input<Name>, asker: Asker) => Promise<Output<Name>> }

export interface Handlers {
  run(name: Handled, input: Input<Handled>, asker: Asker): Promise<unknown>
}

const recent = 200

export function createHandlers(panel: Panel): Handlers {
  const table: Table = {
    getSession: async (_, asker) => sessionBody(panel, asker),
    listTickets: (input, { operator }) => listTickets(panel, operator, input),
    getTicket: ({ id }, { operator }) => ticketOf(panel, operator, id),
    decideTicket: (input, asker) => decide(panel, asker, input),
    resolveTicket: (input, asker) => resolve(panel, asker, input),
    createGrant: (input, asker) => grantFor(panel, asker, input),
    listGrants: (input, { operator }) => listGrants(panel, operator, input),
    revokeGrant: ({ id }, asker) => revokeGrant(panel, asker, id),
    async getLive(filter, { operator: { tenants } }) {
      const mine = { ...filter, tenants }
      const { requests } = panel.live.since(0, mine, recent)
      const { seq } = panel.live
      return { seq, requests, seconds: panel.live.seconds(mine), counts: panel.counts(tenants) }
    },
    listServers: async (_, { operator }) => ({ servers: serversOf(panel, operator.tenants) }),
    listTenants: async (_, { operator }) => ({ tenants: await tenantsOf(panel, operator) }),
    listKeys: (input, { operator }) => keysOf(panel, operator, input),
    async revokeKey({ id }, { operator, credential }) {
      const { tenants, prefix, subject } = await revokeKey(panel, operator, id)
      const told = { key: id, prefix, subject, by: operator.name, credential }
      for (const tenant of tenants.length > 0 ? tenants : ['default']) panel.record(tenant, 'key revoked', told)
      return {}
    },
    async listAudit(input, { operator }) {
      refuseTenant(operator, input.tenant)
      return searchAudit(panel, input)
    },
    async verifyAudit({ tenant }, { operator }) {
      refuseTenant(operator, tenant)
      return judgeAudit(panel, tenant)
    },
  }
  return {
    // The name and the input were taken from the same line of the table: here alone the compiler cannot see it.
    run: (name, input, asker) =>
      (table[name] as (input: Input<Handled>, asker: Asker) => Promise<unknown>)(input, asker),
  }
}

export const sessionBody = (
  { clock, servers }: Panel,
  { operator, csrf, expiresAt }: Omit<Asker, 'credential'>,
): Session => ({
  operator,
  csrf,
  expiresAt,
  now: clock.now(),
  servers: servers.map(({ name }) => name),
})
