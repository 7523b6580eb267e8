/**
 * The running part of a gateway: the connections and the discovery of each upstream, shared by all servers that were
 * created from one `gateway(…)`. It starts with the first server and ends with the last.
 */

import { connect } from '../client/client.ts'
import type { Client } from '../client/types.ts'
import { digest } from '../core/digest.ts'
import type { Params } from '../core/json.ts'
import type { Services } from '../core/plugin.ts'
import type { Key, Store } from '../core/store.ts'
import { prefixed } from '../core/store.ts'
import type { ConnectionCheck } from './connection-check.ts'
import { createConnectionCheck } from './connection-check.ts'
import type { Connections } from './connections.ts'
import type { UpstreamDefinitions } from './definitions.ts'
import { hashOf, parseDefinitions } from './definitions.ts'
import type { UpstreamDiscovery } from './discovery.ts'
import { createDiscovery } from './discovery.ts'
import { createUpstreamPins, processPinStore } from './pins.ts'
import { fixedArgumentsOf } from './preset-pins.ts'
import type { Quarantine } from './quarantine.ts'
import { createQuarantine, leftOutOf } from './quarantine.ts'
import type { RecentTimes } from './recent-times.ts'
import { createRecentTimes } from './recent-times.ts'
import { unparkedHandlers } from './relay-questions.ts'
import { discoveryKey } from './scope.ts'
import type { LeftOut, Upstream, UpstreamState } from './types.ts'

/** One upstream while the gateway runs. */
export interface RunningUpstream {
  readonly upstream: Upstream
  readonly connections: Connections
  readonly discovery: UpstreamDiscovery
  readonly times: RecentTimes
  readonly quarantine: Quarantine
  readonly check: ConnectionCheck
  /** The definitions that are served. */
  readonly definitions: UpstreamDefinitions | undefined
  origin: UpstreamState['definitions']
  /** Definitions that each endpoint leaves out. */
  readonly leftOut: Map<string, readonly LeftOut[]>
}

export interface Runtime {
  readonly upstreams: ReadonlyMap<string, RunningUpstream>
  /** The services of the first server, for the review. */
  readonly services: Services
  /** Called after definitions changed. The returned function unsubscribes. */
  onChange(then: () => void): () => void
  /** Serves what the pins of an upstream accept now, here and in the other processes. */
  pinsChanged(one: RunningUpstream): void
  /** Reads stored definitions and lists the rest. Settles when each is known or failed, or after `startMs`. */
  ready(): Promise<void>
  close(): Promise<void>
}

const defaultDiscoverMs = 30_000
const defaultRefreshMs = 10 * 60_000
/** How often pins are read, because a message of another process may be lost. */
const readPinsMs = 5_000

/** `changed` is told of each upstream whose quarantine may have changed. */
export function createRuntime(
  name: string,
  upstreams: readonly Upstream[],
  startMs: number,
  services: Services,
  changed: (upstream: string) => void,
): Runtime {
  const { store, bus, clock, logger, audit } = services
  const definitionStore = prefixed(store, ['gateway', name, 'definitions'])
  const pinStore = store.isAbsent ? processPinStore() : prefixed(store, ['gateway', name])
  const channel = `gateway pins ${name}`
  const listeners = new Set<() => void>()
  let starting: Promise<void> | undefined
  let cancelTimer: (() => void) | undefined
  const running = new Map(upstreams.map((upstream) => [upstream.name, start(upstream)]))
  const unsubscribe = bus.subscribe(channel, (upstream) => {
    const one = running.get(upstream)
    if (one) readPins(one)
  })
  scheduleRead()

  function start(upstream: Upstream): RunningUpstream {
    const { discoverMs: timeoutMs = defaultDiscoverMs, refreshMs = defaultRefreshMs, roots, trust } = upstream
    const eras = new Map<string, 'legacy' | 'modern'>()
    const handlers = unparkedHandlers(upstream.name, roots, (message) =>
      logger.warn({ event: 'upstreamQuestion', upstream: upstream.name, message }),
    )
    const connections = upstream.open({
      clock,
      logger,
      async connect(transport, options) {
        const client: Client = await connect(transport, {
          clientInfo: { name: 'sluice-gateway', version: '0.1.0' },
          // Some servers list other tools to clients that declare less, so every connection declares everything.
          ...{ handlers, tasks: true, eras, timeoutMs, clock },
          onNotification(method, params) {
            if (isListChanged(method)) forget()
            notified(upstream.name, method, params)
          },
          ...options,
        })
        function forget(): void {
          check.forget(client)
        }
        return client
      },
    })
    const discovery = createDiscovery({
      ...{ name: upstream.name, connections, clock, logger, timeoutMs, refreshMs },
      key: discoveryKey(upstream),
      keepsConnection: upstream.isProcess !== true,
      found: (definitions) => found(upstream.name, definitions),
    })
    const pins = trust === 'always' ? undefined : createUpstreamPins(pinStore, storeKey(upstream), trust === 'review')
    const quarantine = createQuarantine(pins, fixedArgumentsOf(upstream.rules))
    const check = createConnectionCheck({
      ...{ name: upstream.name, quarantine, timeoutMs, refresh: discovery.refresh },
      differs(connection, definition) {
        const fields = { upstream: upstream.name, connection, definition }
        logger.warn({ event: 'connectionQuarantined', ...fields })
        audit.record(operatorTenant, 'connection quarantined', fields)
      },
    })
    return {
      ...{ upstream, connections, discovery, quarantine, check, origin: 'unknown', leftOut: new Map() },
      times: createRecentTimes(clock),
      get definitions() {
        return quarantine.served
      },
    }
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

  async function found(upstream: string, definitions: UpstreamDefinitions): Promise<void> {
    const one = running.get(upstream)
    if (!one) return
    const { quarantine } = one
    const text = JSON.stringify(definitions)
    const isSame = quarantine.listed !== undefined && JSON.stringify(quarantine.listed) === text
    if (isSame && one.origin === 'current') return
    if (!isSame) {
      quarantine.list(definitions)
      // Each connection is compared with the new definitions before its next call.
      one.check.forgetAll()
      save(definitionStore, one.upstream, text)
    }
    await settlePins(one)
    one.origin = 'current'
    announce(one)
  }

  /** Reads the pins. Accepts what is listed if no decision was made before, if the operator did not ask to review it. */
  async function settlePins({ upstream, quarantine }: RunningUpstream): Promise<void> {
    const { pins, offered } = quarantine
    if (!pins || pins.isKnown) return
    if (upstream.trust === 'review') await pins.read()
    else if (await pins.acceptFirst(offered.values(), { by: 'first use', at: clock.now() }))
      audit.record(operatorTenant, 'definitions accepted at first use', {
        upstream: upstream.name,
        definitions: offered.size,
        hash: digest([...offered.values()].map(({ id, hash }) => [id, hash])),
      })
    quarantine.update()
  }

  function announce({ upstream, quarantine }: RunningUpstream): void {
    const waiting = quarantine.quarantined.filter(({ rejected }) => !rejected)
    if (waiting.length > 0)
      logger.warn({
        ...{ event: 'definitionsQuarantined', upstream: upstream.name, count: waiting.length },
        definitions: waiting
          .slice(0, 20)
          .map(({ definition }) => definition.id.slice(0, 128))
          .join(', '),
        message: `New or changed definitions are not served. See: sluice upstreams diff ${upstream.name}`,
      })
    for (const listener of listeners) listener()
    changed(upstream.name)
  }

  function scheduleRead(): void {
    if (store.inProcess || store.isAbsent) return
    cancelTimer = clock.after(readPinsMs, () => {
      for (const one of running.values()) readPins(one)
      scheduleRead()
    })
  }

  /** A store that cannot be read changes nothing: what was accepted before is served. */
  function readPins(one: RunningUpstream): void {
    const { pins } = one.quarantine
    pins?.read().then(
      (isChanged) => {
        if (isChanged) applyPins(one)
      },
      () => {},
    )
  }

  function applyPins(one: RunningUpstream): void {
    one.quarantine.update()
    one.check.forgetAll()
    announce(one)
  }

  function save(to: Store, upstream: Upstream, text: string): void {
    to.set(storeKey(upstream), text).catch((thrown: unknown) => {
      const message = thrown instanceof Error ? thrown.message : ''
      logger.warn({ event: 'definitionsNotStored', upstream: upstream.name, message })
    })
  }

  async function load(one: RunningUpstream): Promise<void> {
    const { quarantine, upstream } = one
    const text = await definitionStore.get(storeKey(upstream)).catch(() => undefined)
    const stored = text === undefined ? undefined : parseDefinitions(text)
    if (!stored || quarantine.listed) return
    quarantine.list(stored)
    // Without pins nothing is served. The discovery tries again.
    await settlePins(one).catch(() => {})
    if (quarantine.served) one.origin = 'stored'
  }

  /** An upstream with stored definitions is listed meanwhile, and delays nothing. */
  async function begin(): Promise<void> {
    const all = [...running.values()]
    await Promise.all(all.map(load))
    const listings = all.map((one) => {
      if (one.origin === 'stored' && one.upstream.isProcess) return Promise.resolve()
      const listing = one.discovery.refresh().catch(() => {
        // Logged by the discovery, which tries again.
      })
      return one.origin === 'stored' ? Promise.resolve() : listing
    })
    let cancelWait = (): void => {}
    const waited = new Promise<void>((resolve) => {
      cancelWait = clock.after(startMs, resolve)
    })
    await Promise.race([Promise.all(listings), waited])
    cancelWait()
    for (const listener of listeners) listener()
  }

  return {
    upstreams: running,
    services,
    onChange(then) {
      listeners.add(then)
      return () => listeners.delete(then)
    },
    pinsChanged(one) {
      applyPins(one)
      // The other processes read the pins again soon, also without the message.
      bus.publish(channel, one.upstream.name).catch(() => {})
    },
    ready() {
      starting ??= begin()
      return starting
    },
    async close() {
      listeners.clear()
      cancelTimer?.()
      unsubscribe()
      await Promise.all(
        [...running.values()].flatMap(({ connections, discovery }) => [connections.close(), discovery.close()]),
      )
    },
  }
}

/** A name that is given to another server later must not bring the definitions of the first. */
const storeKey = ({ name, reaches = '' }: Upstream): Key => [name, digest(reaches)]

const isListChanged = (method: string): boolean => /^notifications\/\w+\/list_changed$/.test(method)

/** The audit of what concerns all tenants, as of other decisions of operators. */
export const operatorTenant = 'default'

/** Returns what an operator sees of an upstream. */
export function stateOf({
  upstream,
  definitions,
  origin,
  discovery,
  connections,
  quarantine: { quarantined },
  check: { differing },
  leftOut,
  times,
}: RunningUpstream): UpstreamState {
  const { lastError } = discovery
  const latency = times.read()
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
    connections: connections.states().map((each) => {
      const differs = differing.get(each.key)
      return differs === undefined ? each : { ...each, differs }
    }),
  }
}
