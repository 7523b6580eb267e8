/**
 * The running part of a gateway: the connections and the discovery of each upstream, shared by all servers that were
 * created from one `gateway(…)`. It starts with the first server and ends with the last.
 */

import { connect } from '../client/client.ts'
import type { Client } from '../client/types.ts'
import type { Params } from '../core/json.ts'
import type { Services } from '../core/plugin.ts'
import { prefixed } from '../core/store.ts'
import { withTimeout } from '../core/with-timeout.ts'
import type { CallerAuth } from './auth/types.ts'
import type { ConnectionCheck } from './connection-check.ts'
import { createConnectionCheck } from './connection-check.ts'
import type { Connections } from './connections.ts'
import type { UpstreamDefinitions } from './definitions.ts'
import { hashOf } from './definitions.ts'
import type { UpstreamDiscovery } from './discovery.ts'
import { createDiscovery, isListChanged } from './discovery.ts'
import { fixedArgumentsOf } from './pinned.ts'
import type { Quarantine } from './quarantine.ts'
import { createQuarantine, leftOutOf } from './quarantine.ts'
import type { RecentTimes } from './recent-times.ts'
import { createRecentTimes } from './recent-times.ts'
import { unparkedHandlers } from './relay-questions.ts'
import { callerKey, discoveryKey } from './scope.ts'
import type { ServedDefinitions } from './served-definitions.ts'
import { createServedDefinitions, operatorTenant, storeKey } from './served-definitions.ts'
import type { StoredOwners } from './stored-owners.ts'
import { createStoredOwners } from './stored-owners.ts'
import type { LeftOut, Upstream, UpstreamState } from './types.ts'

export interface RunningUpstream {
  readonly upstream: Upstream
  readonly connections: Connections
  readonly discovery: UpstreamDiscovery
  readonly auth: CallerAuth | undefined
  readonly times: RecentTimes
  readonly quarantine: Quarantine
  readonly check: ConnectionCheck
  readonly definitions: UpstreamDefinitions | undefined
  origin: UpstreamState['definitions']
  readonly leftOut: Map<string, readonly LeftOut[]>
}

export interface Runtime extends Pick<ServedDefinitions, 'onChange' | 'pinsChanged'> {
  readonly upstreams: ReadonlyMap<string, RunningUpstream>
  readonly owners: StoredOwners
  /** The services of the first server, for the review. */
  readonly services: Services
  /** Lists an upstream again. Resolves when what it lists is served. */
  refresh(one: RunningUpstream): Promise<void>
  /** Reads stored definitions and lists the rest. Settles when each is known or failed, or after `startMs`. */
  ready(): Promise<void>
  close(): Promise<void>
}

const defaultDiscoverMs = 30_000
const defaultRefreshMs = 10 * 60_000

/** `changed` is told of each upstream whose quarantine may have changed. */
export function createRuntime(
  name: string,
  upstreams: readonly Upstream[],
  startMs: number,
  services: Services,
  changed: (upstream: string) => void,
  problemsOf: (one: RunningUpstream) => readonly string[],
): Runtime {
  const { clock, logger, audit } = services
  const owners = createStoredOwners(prefixed(services.store, ['gateway', name]), logger)
  const served = createServedDefinitions(name, services, (upstream) => running.get(upstream), changed)
  let starting: Promise<void> | undefined
  let isStarted = false
  const running: ReadonlyMap<string, RunningUpstream> = new Map(
    upstreams.map((upstream) => [upstream.name, start(upstream)]),
  )

  function start(upstream: Upstream): RunningUpstream {
    const { discoverMs: timeoutMs = defaultDiscoverMs, refreshMs = defaultRefreshMs, roots } = upstream
    const eras = new Map<string, 'legacy' | 'modern'>()
    const handlers = unparkedHandlers(upstream.name, roots, (message) =>
      logger.warn({ event: 'upstreamQuestion', upstream: upstream.name, message }),
    )
    const auth = authOf(upstream)
    const connections = upstream.open({
      clock,
      logger,
      auth,
      async connect(transport, options) {
        let client: Client | undefined
        client = await connect(transport, {
          clientInfo: { name: 'sluice-gateway', version: '0.1.0' },
          // Some servers list other tools to clients that declare less, so every connection declares everything.
          ...{ handlers, tasks: true, eras, timeoutMs, clock },
          onNotification(method, params) {
            if (client && isListChanged(method)) check.forget(client)
            notified(upstream.name, method, params)
          },
          ...options,
        })
        return client
      },
    })
    const discovery = createDiscovery({
      ...{ name: upstream.name, connections, clock, logger, timeoutMs, refreshMs },
      async key() {
        if (!auth || upstream.hasListCredential) return discoveryKey(upstream)
        const lister = await auth.lister()
        return lister && callerKey(lister)
      },
      keepsConnection: upstream.isProcess !== true,
      async found(definitions) {
        const one = running.get(upstream.name)
        const before = one?.quarantine.listed
        await served.found(one, definitions)
        if (!one || !isStarted || one.quarantine.listed === before) return
        for (const message of problemsOf(one))
          logger.warn({ event: 'ruleWithoutEffect', upstream: upstream.name, message })
      },
    })
    const quarantine = createQuarantine(served.pinsOf(upstream), fixedArgumentsOf(upstream.rules))
    const check = createConnectionCheck({
      ...{ name: upstream.name, quarantine, timeoutMs, refresh: discovery.refresh },
      differs(connection, definition) {
        const fields = { upstream: upstream.name, connection, definition }
        logger.warn({ event: 'connectionQuarantined', ...fields })
        audit.record(operatorTenant, 'connection quarantined', fields)
      },
    })
    return {
      ...{ upstream, connections, discovery, auth, quarantine, check, origin: 'unknown', leftOut: new Map() },
      times: createRecentTimes(clock),
      get definitions() {
        return quarantine.served
      },
    }
  }

  function authOf(upstream: Upstream): CallerAuth | undefined {
    const { secrets, hasSecret } = services
    return upstream.auth?.({
      ...{ upstream: upstream.name, clock, logger, audit, secrets, hasSecret },
      store: prefixed(services.store, ['gateway', name, 'sign-ins', ...storeKey(upstream)]),
      async changed(holder, hasCredential) {
        const one = running.get(upstream.name)
        if (!one) return
        await one.connections.restart(callerKey(holder).text)
        if (!hasCredential || one.origin === 'current') return
        await refresh(one).catch(() => {
          // Logged by the discovery, which tries again.
        })
      },
    })
  }

  async function refresh({ discovery }: RunningUpstream): Promise<void> {
    await discovery.refresh()
    served.announceAll()
  }

  function notified(upstream: string, method: string, params: Params): void {
    const one = running.get(upstream)
    if (isListChanged(method)) one?.discovery.changed()
    else if (method === 'notifications/message') {
      // On a channel a log message names no call, so it goes to the operator.
      const { level, data } = params
      const message = (typeof data === 'string' ? data : JSON.stringify(data))?.slice(0, 2000)
      logger.debug?.({ event: 'upstreamLog', upstream, level: String(level).slice(0, 16), message })
    }
  }

  /** An upstream with stored definitions is listed meanwhile, and delays nothing. */
  async function begin(): Promise<void> {
    const all = [...running.values()]
    await Promise.all([...all.map(served.load), owners.load()])
    const listings = all.map((one) => {
      if (one.origin === 'stored' && one.upstream.isProcess) return Promise.resolve()
      const listing = one.discovery.refresh().catch(() => {
        // Logged by the discovery, which tries again.
      })
      return one.origin === 'stored' ? Promise.resolve() : listing
    })
    await withTimeout(Promise.all(listings), startMs, clock).catch(() => {})
    await assertNames(all, problemsOf)
    isStarted = true
    served.announceAll()
  }

  return {
    upstreams: running,
    owners,
    services,
    onChange: served.onChange,
    pinsChanged: served.pinsChanged,
    refresh,
    ready() {
      starting ??= begin()
      return starting
    },
    async close() {
      served.close()
      await Promise.all(
        [...running.values()].flatMap(({ connections, discovery }) => [connections.close(), discovery.close()]),
      )
    },
  }
}

/**
 * Refuses rules that name what an upstream does not have, because a mistyped name would leave open what the operator
 * wanted to close. Stored definitions may be old, so such an upstream is listed again first.
 */
async function assertNames(
  all: readonly RunningUpstream[],
  problemsOf: (one: RunningUpstream) => readonly string[],
): Promise<void> {
  const doubtful = all.filter((one) => one.origin === 'stored' && problemsOf(one).length > 0)
  await Promise.all(
    doubtful.map(({ discovery }) =>
      discovery.refresh().catch(() => {
        // Logged by the discovery. The stored definitions decide.
      }),
    ),
  )
  const problems = all.flatMap(problemsOf)
  if (problems.length > 0) throw new TypeError(problems.join('\n'))
}

export function stateOf(one: RunningUpstream, ruleProblems: readonly string[]): UpstreamState {
  const { upstream, definitions, origin, connections, leftOut } = one
  const { lastError } = one.discovery
  const { quarantined } = one.quarantine
  const latency = one.times.read()
  return {
    name: upstream.name,
    transport: upstream.isProcess ? 'stdio' : upstream.reaches === undefined ? 'in-process' : 'http',
    definitions: origin,
    tools: definitions?.tools.length ?? 0,
    prompts: definitions?.prompts.length ?? 0,
    resources: definitions?.resources.length ?? 0,
    templates: definitions?.templates.length ?? 0,
    ...(definitions && { hash: hashOf(definitions), revision: definitions.revision }),
    ...(latency && { latency }),
    ...(lastError !== undefined && { lastError }),
    quarantined: quarantined.filter(({ rejected }) => !rejected).length,
    leftOut: [...leftOutOf(quarantined, upstream.name), ...[...leftOut.values()].flat()],
    ruleProblems,
    connections: connections.states().map((each) => {
      const differs = one.check.differing.get(each.key)
      return differs === undefined ? each : { ...each, differs }
    }),
  }
}
