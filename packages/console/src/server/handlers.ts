/** The handlers of the API. Their types come from the table, so that an undocumented answer does not compile. */

import type { Operator, RouteInput, RouteName, RouteOutput, SessionInfo } from '../api/index.ts'
import { accessOf } from './access.ts'
import { assertTenantVisible, verifyTenantAudit } from './audit.ts'
import { searchAudit } from './audit-search.ts'
import type { ConsoleState } from './console-state.ts'
import { keysOf, revokeKey, tenantsOf } from './tenants.ts'
import { getTicketContext } from './ticket-context.ts'
import {
  createGrant,
  decideTicket,
  getTicket,
  listGrants,
  listTickets,
  resolveTicket,
  revokeGrant,
  takeBackTicket,
} from './tickets.ts'
import { serversOf } from './tools.ts'
import { tryTool } from './try-tool.ts'
import { confirmSignIn, endSignIn, ownSignIns, startSignIn } from './upstream-sign-ins.ts'
import { decideDefinition, definitionsOf, restartUpstream, upstreamsOf } from './upstreams.ts'

/** The authenticated operator of a request. */
export interface ConsoleCaller {
  readonly operator: Operator
  readonly credential: string
  readonly csrf: string
  readonly expiresAt: number
}

type HandledRoute = Exclude<RouteName, 'signIn' | 'signOut'>
type HandlerTable = {
  readonly [Name in HandledRoute]: (input: RouteInput<Name>, caller: ConsoleCaller) => Promise<RouteOutput<Name>>
}

export interface Handlers {
  run(name: HandledRoute, input: RouteInput<HandledRoute>, caller: ConsoleCaller): Promise<unknown>
}

const maxRecentRequests = 200

export function createHandlers(consoleState: ConsoleState): Handlers {
  const table: HandlerTable = {
    getSession: async (_, caller) => sessionBody(consoleState, caller),
    listTickets: (input, { operator }) => listTickets(consoleState, operator, input),
    getTicket: ({ id }, { operator }) => getTicket(consoleState, operator, id),
    decideTicket: (input, caller) => decideTicket(consoleState, caller, input),
    takeBackTicket: ({ id }, caller) => takeBackTicket(consoleState, caller, id),
    getTicketContext: ({ id }, { operator }) => getTicketContext(consoleState, operator, id),
    resolveTicket: (input, caller) => resolveTicket(consoleState, caller, input),
    createGrant: (input, caller) => createGrant(consoleState, caller, input),
    listGrants: (input, { operator }) => listGrants(consoleState, operator, input),
    revokeGrant: ({ id }, caller) => revokeGrant(consoleState, caller, id),
    async getLive(filter, { operator: { tenants } }) {
      const visible = { ...filter, tenants }
      const { requests } = consoleState.live.requestsSince(0, visible, maxRecentRequests)
      const { seq } = consoleState.live
      return {
        ...{ seq, requests, seconds: consoleState.live.seconds(visible) },
        ...{ counts: consoleState.gauges(tenants), running: consoleState.running(visible) },
      }
    },
    listServers: async (_, { operator }) => ({ servers: serversOf(consoleState, operator.tenants) }),
    tryTool: (input, caller) => tryTool(consoleState, caller, input),
    getHistory: (input, { operator: { tenants } }) => consoleState.history.read({ ...input, tenants }),
    listClients: async (_, { operator: { tenants } }) => ({
      clients: consoleState
        .clients()
        .filter(({ isLocal }) => !isLocal || tenants.length === 0)
        .map(({ isLocal: _1, ...client }) => client),
    }),
    async listUpstreams(_, caller) {
      const signIns = await ownSignIns(consoleState, caller)
      return { upstreams: upstreamsOf(consoleState, caller.operator, signIns) }
    },
    async restartUpstream({ name }, { operator, credential }) {
      const entry = { upstream: name, by: operator.name, credential }
      await restartUpstream(consoleState, operator, name)
      consoleState.audit?.record('default', 'upstream restarted', entry)
      return {}
    },
    getDefinitions: async (input) => ({ definitions: await definitionsOf(consoleState, input) }),
    async decideDefinition(input, { operator }) {
      await decideDefinition(consoleState, operator, input)
      return {}
    },
    startUpstreamSignIn: (input, caller) => startSignIn(consoleState, caller, input),
    async confirmUpstreamSignIn(input, caller) {
      await confirmSignIn(consoleState, caller, input)
      return {}
    },
    async endUpstreamSignIn(input, caller) {
      await endSignIn(consoleState, caller, input)
      return {}
    },
    listAccess: (input, { operator }) => accessOf(consoleState, operator, input),
    listTenants: async (_, { operator }) => ({ tenants: await tenantsOf(consoleState, operator) }),
    listKeys: (input, { operator }) => keysOf(consoleState, operator, input),
    async revokeKey({ id }, { operator, credential }) {
      const { tenants, prefix, subject } = await revokeKey(consoleState, operator, id)
      const entry = { key: id, prefix, subject, by: operator.name, credential }
      for (const tenant of tenants.length > 0 ? tenants : ['default'])
        consoleState.audit?.record(tenant, 'key revoked', entry)
      return {}
    },
    async listAudit(input, { operator }) {
      if (input.tenant !== undefined) assertTenantVisible(operator, input.tenant)
      return searchAudit(consoleState, operator, input)
    },
    async verifyAudit({ tenant }, { operator }) {
      assertTenantVisible(operator, tenant)
      return verifyTenantAudit(consoleState, tenant)
    },
  }
  return {
    // The name and the input belong to the same route, which the compiler cannot see here.
    run: (name, input, caller) =>
      (table[name] as (input: RouteInput<HandledRoute>, caller: ConsoleCaller) => Promise<unknown>)(input, caller),
  }
}

export const sessionBody = (
  { clock, servers, gateway, clients }: ConsoleState,
  { operator, csrf, expiresAt }: Omit<ConsoleCaller, 'credential'>,
): SessionInfo => ({
  operator,
  csrf,
  expiresAt,
  now: clock.now(),
  servers: servers.map(({ name }) => name),
  pages: [...(gateway() ? (['upstreams'] as const) : []), ...(clients().length > 0 ? (['clients'] as const) : [])],
})
