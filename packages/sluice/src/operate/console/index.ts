/**
 * The console: a web page where people approve what agents want to do and see what their servers do, and the API below
 * it. One for all servers of a process that share a store.
 */

import type { Desk } from '../../approvals/desk.ts'
import type { Bus } from '../../core/bus.ts'
import type { Clock } from '../../core/clock.ts'
import { systemClock } from '../../core/clock.ts'
import type { Logger } from '../../core/log.ts'
import { silentLogger } from '../../core/log.ts'
import type { Defined, Part } from '../../core/part.ts'
import type { Store } from '../../core/store.ts'
import { apiKeys } from '../../layers/identities/api-keys.ts'
import type { ConsoleState, WatchedServer } from './console-state.ts'
import { readGauges } from './console-state.ts'
import { createHandlers } from './handlers.ts'
import type { ConsoleListenOptions, ConsoleServing } from './http.ts'
import { listenConsole } from './http.ts'
import { createLiveStats } from './live-stats.ts'
import type { Operators } from './operators.ts'
import { createOperators } from './operators.ts'
import { createPendingTickets } from './pending-tickets.ts'
import { createConsoleSessions } from './sessions.ts'

export type { RouteInput, RouteName, RouteOutput } from './api.ts'
export { routes, schemas } from './api.ts'
export type { ConsoleListenOptions, ConsoleServing } from './http.ts'
export { openApi } from './openapi.ts'
export type { NewOperator, OperatorKey, OperatorScope, Operators } from './operators.ts'

/** What the console shows and who signs in to it. */
export interface ConsoleOptions {
  /** The servers' own: tickets, keys and the audit are found there, and sessions are kept there. */
  readonly store: Store
  /** The servers' own, where they have one: a key that is revoked here is then refused everywhere at once. */
  readonly bus?: Bus | undefined
  /** What `approvals({ … })` made, where the servers have it. */
  readonly desk?: Desk
  readonly clock?: Clock
  readonly logger?: Logger
  /**
   * Who signs in by the link: the person at the terminal, `owner` unless said. Where tickets need another subject than
   * the caller's, this is the name that is compared.
   */
  readonly owner?: string
}

/** The web console of all servers of a process that share a store. */
export interface Console {
  /** `console: consoleApp.watch` in the options of each server it is to show. */
  readonly watch: Part<'console'>
  /** Who else may sign in, or use the API. */
  readonly operators: Operators
  listen(options?: ConsoleListenOptions): Promise<ConsoleServing>
  /** A link that signs in once, within 15 minutes. The page must be listening. */
  link(): Promise<string>
  /** Where it listens; `undefined` before. For the `url` of approvals. */
  readonly url: string | undefined
}

/** Makes the console; `listen` opens it, on a port of its own. */
export function createConsole(options: ConsoleOptions): Console {
  const { store, bus, desk, clock = systemClock, logger = silentLogger, owner = 'owner' } = options
  const live = createLiveStats(clock)
  const servers: WatchedServer[] = []
  const operators = createOperators(store, clock)
  const sessions = createConsoleSessions({ store, clock, operators, owner })
  const pending = createPendingTickets(desk, clock)
  let serving: ConsoleServing | undefined

  const consoleState: ConsoleState = {
    ...{ store, clock, logger, live, servers, desk },
    keys: apiKeys(store, { clock, bus }),
    countPending: pending.count,
    onTicketChange: pending.onChange,
    record: (tenant, kind, fields) => servers[0]?.record(tenant, kind, fields),
    gauges: (tenants) => (tenants.length > 0 ? [] : readGauges(servers)),
  }
  const deps = { consoleState, handlers: createHandlers(consoleState), sessions, operators }

  return {
    watch(services) {
      const { name, counts, uses, record, secrets } = services
      let served: Defined = { info: { name, version: '' } }
      if (services.store !== store)
        throw new TypeError(
          'console: give it the store of its servers, or it would show other tickets, keys and records',
        )
      servers.push({ name, gauges: counts, quotas: uses, record, secrets, definition: () => served })
      return {
        part: 'console',
        defined(definition) {
          served = definition
        },
        sink: (event) => live.recordCall(name, event),
        refused: (line) => live.recordRejection(name, line),
      }
    },
    operators: {
      create: operators.create,
      list: operators.list,
      change: operators.change,
      revoke: operators.revoke,
    },
    async listen(options) {
      serving = await listenConsole(deps, options)
      return serving
    },
    async link() {
      if (!serving) throw new Error('The console does not listen yet')
      return `${serving.url}#/sign-in/${await sessions.createLink()}`
    },
    get url() {
      return serving?.url
    },
  }
}
