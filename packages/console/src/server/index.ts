/**
 * The console: a web page where people approve what agents want to do and see what their servers do, and the API below
 * it. One for all servers of a process that share a store.
 */

import type { Bus, Clock, Logger, Store } from 'sluice'
import { apiKeys } from 'sluice'
import type { ApprovalsService } from 'sluice/approvals'
import type { Audit } from 'sluice/audit'
import type { DefinitionSummary } from 'sluice/card'
import type { SlotPlugin } from 'sluice/extend'
import type { Gateway } from 'sluice/gateway'
import type { AttachedServer } from 'sluice/internal'
import { bugOf, noAudit } from 'sluice/internal'
import { nodeClock } from 'sluice/node'
import type { ClientFile } from '../api/index.ts'
import type { ConsoleState, WatchedServer } from './console-state.ts'
import { readGauges, readRunning } from './console-state.ts'
import { createHandlers } from './handlers.ts'
import { createHistory } from './history.ts'
import type { ConsoleListenOptions, ConsoleServing } from './http.ts'
import { listenConsole } from './http.ts'
import { createLayerTimes } from './layer-times.ts'
import { createLiveStats } from './live-stats.ts'
import type { Operators } from './operators.ts'
import { createOperators } from './operators.ts'
import { createPendingTickets } from './pending-tickets.ts'
import { createConsoleSessions } from './sessions.ts'
import { attemptObserver } from './try-tool.ts'

export type { ClientFile, RouteInput, RouteName, RouteOutput } from '../api/index.ts'
export { routes, schemas } from '../api/index.ts'
export type { ConsoleListenOptions, ConsoleServing } from './http.ts'
export type { NewOperator, OperatorKey, OperatorScope, Operators } from './operators.ts'

/** What the console shows, and who signs in to it. */
export interface ConsoleOptions {
  /** The store of the servers: it holds their tickets, keys and audit, and the sessions of the console. */
  readonly store: Store
  /** The bus of the servers. With it a key that is revoked here is refused by all processes at once. */
  readonly bus?: Bus | undefined
  /** The approvals of the servers. */
  readonly approvals?: ApprovalsService | undefined
  /** The audit of the servers. Operators search, verify and export it, and what they do is recorded in it. */
  readonly audit?: Audit | undefined
  readonly clock?: Clock
  readonly logger?: Logger
  /**
   * The name of the person who signs in by the link, `owner` by default. If tickets need another subject than the
   * caller's, this is the name that is compared. Set it to the subject of that person's own calls: with it, the person
   * can sign in to upstreams here.
   */
  readonly owner?: string
  /** Returns the gateway whose upstreams are shown. A function, because a gateway may be made later. */
  readonly gateway?: () => Gateway | undefined
  /**
   * Returns the configurations that connect clients, with a placeholder for the key. `isLocal` marks one that works on
   * this machine only; operators of some tenants do not see it.
   */
  readonly clients?: () => readonly (ClientFile & { readonly isLocal?: boolean })[]
}

/** The web console of all servers of a process that share a store. */
export interface Console {
  /** A plugin for each server that the console shows. */
  readonly watch: SlotPlugin<'console'>
  /** Who else may sign in, or use the API. */
  readonly operators: Operators
  listen(options?: ConsoleListenOptions): Promise<ConsoleServing>
  /**
   * Returns a link that signs in once, within 15 minutes. Without `listen` it is for the console that listened last on
   * this store, which may be another process.
   */
  link(): Promise<string>
  /** The address, `undefined` before `listen`. For the "url" of approvals. */
  readonly url: string | undefined
}

/** The address of the console that listened last, for a command that prints a link. */
const addressKey = ['console', 'address'] as const

const silentLogger: Logger = { info() {}, warn() {}, error() {} }

/** Creates the console. `listen` serves it on its own port. */
export function createConsole(options: ConsoleOptions): Console {
  const { store, bus, approvals, audit, clock = nodeClock, logger = silentLogger, owner = 'owner' } = options
  const { gateway = () => undefined, clients = () => [] } = options
  const live = createLiveStats(clock)
  const layerTimes = createLayerTimes(clock)
  const history = createHistory({ store, clock, logger, live })
  const servers: WatchedServer[] = []
  const operators = createOperators(store, clock)
  const sessions = createConsoleSessions({ store, clock, operators, owner })
  const pending = createPendingTickets(approvals, clock)
  let serving: ConsoleServing | undefined

  const consoleState: ConsoleState = {
    ...{ store, clock, logger, live, layerTimes, history, servers, approvals, audit, gateway, clients },
    keys: apiKeys(store, { clock, bus }),
    countPending: pending.count,
    onTicketChange: pending.onChange,
    hasOwner: options.owner !== undefined,
    gauges: (tenants) => (tenants.length > 0 ? [] : readGauges(servers)),
    running: (filter) => readRunning(servers, filter),
  }
  const deps = { consoleState, handlers: createHandlers(consoleState), sessions, operators }

  return {
    watch: {
      slot: 'console',
      create(services) {
        const { name, gauges, quotas } = services
        let served: DefinitionSummary = { name, version: '' }
        let authenticated = false
        let attached: AttachedServer | undefined
        if (services.store !== store)
          throw new TypeError(
            'console: it shows the tickets, keys and audit of one store, so pass the same "store" to it and its servers',
          )
        if (services.audit.record !== (audit ?? noAudit).record)
          throw new TypeError(
            'console: actions of operators must be in the audit of the server. Make one with createAudit({ store }), pass it to createConsole as "audit", and add it to "use"',
          )
        servers.push({
          ...{ name, gauges, quotas, definition: () => served },
          get authenticated() {
            return authenticated
          },
          get attached() {
            return attached
          },
        })
        let isStarted = false
        return {
          accepts(definition, exposure) {
            served = definition
            authenticated = exposure.authenticated
          },
          attach(server) {
            attached = server
          },
          compose: layerTimes.compose,
          async ready() {
            if (!isStarted) history.start()
            isStarted = true
          },
          async close() {
            if (isStarted) await history.close()
            isStarted = false
          },
          observer: {
            arrived: attemptObserver.arrived,
            ended(event) {
              attemptObserver.ended(event)
              live.recordCall(name, event, layerTimes.pathOf(event.call.facts))
            },
            rejected: (line) => live.recordRejection(name, line),
          },
        }
      },
    },
    operators: {
      create: operators.create,
      list: operators.list,
      change: operators.change,
      revoke: operators.revoke,
    },
    async listen(options) {
      serving = await listenConsole(deps, options)
      // Best effort: without it only a link from another process is missing.
      await store
        .set(addressKey, serving.url)
        .catch((thrown: unknown) => logger.warn({ event: 'consoleAddressNotStored', ...bugOf(thrown) }))
      return serving
    },
    async link() {
      const address = serving?.url ?? (await store.get(addressKey))
      if (address === undefined) throw new Error('No console has listened on this store yet: start it first')
      return `${address}#/sign-in/${await sessions.createLink()}`
    },
    get url() {
      return serving?.url
    },
  }
}
