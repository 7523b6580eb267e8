/**
 * The running part of a gateway: the connections and the discovery of each upstream, shared by all servers that were
 * created from one `gateway(…)`. It starts with the first server and ends with the last.
 */

import { connect } from '../client/client.ts'
import type { Client } from '../client/types.ts'
import { digest } from '../core/digest.ts'
import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { Services } from '../core/plugin.ts'
import type { Key, Store } from '../core/store.ts'
import { prefixed } from '../core/store.ts'
import type { Connections } from './connections.ts'
import type { UpstreamDefinitions } from './definitions.ts'
import { findDifference, hashOf, parseDefinitions } from './definitions.ts'
import type { UpstreamDiscovery } from './discovery.ts'
import { createDiscovery } from './discovery.ts'
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
  definitions: UpstreamDefinitions | undefined
  origin: UpstreamState['definitions']
  /** Definitions that each endpoint leaves out. */
  readonly leftOut: Map<string, readonly LeftOut[]>
  /** Throws if a connection defines tools differently from the served definitions. */
  verify(client: Client): Promise<void> | undefined
}

export interface Runtime {
  readonly upstreams: ReadonlyMap<string, RunningUpstream>
  /** Called after definitions changed. The returned function unsubscribes. */
  onChange(then: () => void): () => void
  /** Reads stored definitions and lists the rest. Settles when each is known or failed, or after `startMs`. */
  ready(): Promise<void>
  close(): Promise<void>
}

const defaultDiscoverMs = 30_000
const defaultRefreshMs = 10 * 60_000

export function createRuntime(
  name: string,
  upstreams: readonly Upstream[],
  startMs: number,
  { store, clock, logger }: Services,
): Runtime {
  const definitionStore = prefixed(store, ['gateway', name, 'definitions'])
  const listeners = new Set<() => void>()
  /** Forget which connections were compared, per upstream. */
  const forgetters = new Map<string, () => void>()
  let starting: Promise<void> | undefined
  const running = new Map(upstreams.map((upstream) => [upstream.name, start(upstream)]))

  function start(upstream: Upstream): RunningUpstream {
    const { discoverMs: timeoutMs = defaultDiscoverMs, refreshMs = defaultRefreshMs, roots } = upstream
    const eras = new Map<string, 'legacy' | 'modern'>()
    const handlers = unparkedHandlers(upstream.name, roots, (message) =>
      logger.warn({ event: 'upstreamQuestion', upstream: upstream.name, message }),
    )
    const connections = upstream.open({
      clock,
      logger,
      connect: (transport, options) =>
        connect(transport, {
          clientInfo: { name: 'sluice-gateway', version: '0.1.0' },
          // Some servers list other tools to clients that declare less, so every connection declares everything.
          ...{ handlers, tasks: true, eras, timeoutMs, clock },
          onNotification: (method, params) => notified(upstream.name, method, params),
          ...options,
        }),
    })
    const discovery = createDiscovery({
      ...{ name: upstream.name, connections, clock, logger, timeoutMs, refreshMs },
      key: discoveryKey(upstream),
      keepsConnection: upstream.isProcess !== true,
      found: (definitions) => found(upstream.name, definitions),
    })
    let verified = new WeakMap<Client, Promise<void> | true>()
    const one: RunningUpstream = {
      times: createRecentTimes(clock),
      ...{ upstream, connections, discovery, definitions: undefined, origin: 'unknown', leftOut: new Map() },
      verify(client) {
        if (upstream.trust === 'always') return undefined
        const known = verified.get(client)
        if (known) return known === true ? undefined : known
        const checked = verified
        const checking = compare(one, client, timeoutMs).then(
          () => {
            checked.set(client, true)
          },
          (thrown: unknown) => {
            // A connection that shows other definitions stays refused. A failure is checked again by the next call.
            if (!(thrown instanceof RpcError)) checked.delete(client)
            throw thrown
          },
        )
        checked.set(client, checking)
        return checking
      },
    }
    forgetters.set(upstream.name, () => {
      verified = new WeakMap()
    })
    return one
  }

  function notified(upstream: string, method: string, params: Params): void {
    const one = running.get(upstream)
    if (/^notifications\/\w+\/list_changed$/.test(method)) one?.discovery.changed()
    else if (method === 'notifications/message') {
      // On a channel a log message names no call, so it goes to the operator.
      const { level, data } = params
      const message = (typeof data === 'string' ? data : JSON.stringify(data))?.slice(0, 2000)
      logger.debug?.({ event: 'upstreamLog', upstream, level: String(level).slice(0, 16), message })
    }
  }

  function found(upstream: string, definitions: UpstreamDefinitions): void {
    const one = running.get(upstream)
    if (!one) return
    const text = JSON.stringify(definitions)
    const isSame = one.definitions !== undefined && JSON.stringify(one.definitions) === text
    const wasKnown = one.origin === 'current'
    one.origin = 'current'
    if (isSame && wasKnown) return
    one.definitions = definitions
    if (!isSame) {
      // Each connection is compared with the new definitions before its next call.
      forgetters.get(upstream)?.()
      save(definitionStore, one.upstream, text)
    }
    for (const listener of listeners) listener()
  }

  function save(to: Store, upstream: Upstream, text: string): void {
    to.set(storeKey(upstream), text).catch((thrown: unknown) => {
      const message = thrown instanceof Error ? thrown.message : ''
      logger.warn({ event: 'definitionsNotStored', upstream: upstream.name, message })
    })
  }

  async function load({ upstream }: RunningUpstream): Promise<void> {
    const text = await definitionStore.get(storeKey(upstream)).catch(() => undefined)
    const one = running.get(upstream.name)
    const stored = text === undefined ? undefined : parseDefinitions(text)
    if (!one || !stored || one.definitions) return
    one.definitions = stored
    one.origin = 'stored'
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
    let cancelTimer = (): void => {}
    const waited = new Promise<void>((resolve) => {
      cancelTimer = clock.after(startMs, resolve)
    })
    await Promise.race([Promise.all(listings), waited])
    cancelTimer()
    for (const listener of listeners) listener()
  }

  return {
    upstreams: running,
    onChange(then) {
      listeners.add(then)
      return () => listeners.delete(then)
    },
    ready() {
      starting ??= begin()
      return starting
    },
    async close() {
      listeners.clear()
      await Promise.all(
        [...running.values()].flatMap(({ connections, discovery }) => [connections.close(), discovery.close()]),
      )
    },
  }
}

/** A name that is given to another server later must not bring the definitions of the first. */
const storeKey = ({ name, reaches = '' }: Upstream): Key => [name, digest(reaches)]

/** Compares the tools of a connection with the served ones, and with newly listed ones before it is refused. */
async function compare(one: RunningUpstream, client: Client, timeoutMs: number): Promise<void> {
  const { definitions, discovery, upstream } = one
  if (!definitions || !isObject(client.agreement.capabilities['tools'])) return
  const tools: Params[] = []
  for await (const page of client.pages('tools/list', {}, { timeoutMs }))
    if (Array.isArray(page['tools'])) tools.push(...page['tools'].filter(isObject))
  if (findDifference(definitions, tools) === undefined) return
  await discovery.refresh()
  const different = findDifference(one.definitions ?? definitions, tools)
  if (different === undefined) return
  throw new RpcError(
    'upstreamUnavailable',
    `${upstream.name} defines ${different} differently on this connection than for everyone else. The call did not run: tell the operator`,
    { data: { mayHaveRun: false, tool: different } },
  )
}

/** Returns what an operator sees of an upstream. */
export function stateOf({
  upstream,
  definitions,
  origin,
  discovery,
  connections,
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
    leftOut: [...leftOut.values()].flat(),
    connections: connections.states(),
  }
}
