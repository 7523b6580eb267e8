/**
 * Connections over transports that cost little to open: HTTP, or a server in this process. There is one client per scope
 * key, and a circuit breaker per scope key, so that the failures of one caller's connection do not refuse another's.
 */

import { ClientError } from '../client/errors.ts'
import type { Transport } from '../client/transport.ts'
import type { Client } from '../client/types.ts'
import type { Clock } from '../core/clock.ts'
import { Counts } from '../core/counts.ts'
import { RpcError } from '../core/error.ts'
import type { ConnectionLease, Connections, ScopeKey, UpstreamConnection } from './connections.ts'
import { toUpstreamError, unavailable } from './upstream-error.ts'

export interface TransportConnectionsOptions {
  readonly name: string
  readonly clock: Clock
  open(key: ScopeKey): Transport | Promise<Transport>
  connect(transport: Transport, options: { onClose(): void }): Promise<Client>
}

/** Connections of one upstream. Beyond it an idle one is closed; if none is idle, the call is refused. */
const maxConnections = 1000
/** Calls in flight per scope key and per tenant, so that one caller of a slow upstream does not take all sockets. */
const maxInFlight = 64
const maxPerTenant = 128
const idleMs = 5 * 60_000
/** Failures in a row that open the circuit, and how long it stays open: doubled with each further failure. */
const maxFailures = 5
const firstPauseMs = 1000
const maxPauseMs = 30_000

interface Entry {
  readonly key: ScopeKey
  readonly since: number
  client: Client | undefined
  connecting: Promise<Client> | undefined
  inFlight: number
  failures: number
  restarts: number
  /** The circuit is open until then. */
  pausedUntil: number
  /** One call tries whether the upstream is back. */
  isTrying: boolean
  lastUsed: number
  lastError: string | undefined
}

export function createTransportConnections(options: TransportConnectionsOptions): Connections {
  const { name, clock } = options
  const entries = new Map<string, Entry>()
  const perTenant = new Counts<string>()
  let cancelSweep: (() => void) | undefined
  let isClosed = false

  function entryOf(key: ScopeKey): Entry {
    const found = entries.get(key.text)
    if (found) return found
    if (entries.size >= maxConnections) evictIdle()
    const made: Entry = {
      ...{ key, since: clock.now(), client: undefined, connecting: undefined, inFlight: 0, failures: 0, restarts: 0 },
      ...{ pausedUntil: 0, isTrying: false, lastUsed: clock.now(), lastError: undefined },
    }
    entries.set(key.text, made)
    cancelSweep ??= clock.after(idleMs, sweep)
    return made
  }

  function evictIdle(): void {
    let oldest: Entry | undefined
    for (const entry of entries.values())
      if (entry.inFlight === 0 && (!oldest || entry.lastUsed < oldest.lastUsed)) oldest = entry
    if (!oldest) throw refusal('has too many connections')
    drop(oldest)
  }

  /** Closes connections that were idle for a while. */
  function sweep(): void {
    cancelSweep = undefined
    const now = clock.now()
    for (const entry of [...entries.values()])
      if (entry.inFlight === 0 && now - entry.lastUsed >= idleMs && entry.pausedUntil <= now) drop(entry)
    if (entries.size > 0 && !isClosed) cancelSweep = clock.after(idleMs, sweep)
  }

  function drop(entry: Entry): void {
    if (entries.get(entry.key.text) === entry) entries.delete(entry.key.text)
    closeClient(entry)
  }
  function closeClient(entry: Entry): void {
    const { client } = entry
    entry.client = undefined
    // The other side may be gone; its end of the connection then expires by itself.
    client?.close().catch(() => {})
  }

  function connected(entry: Entry): Promise<Client> {
    entry.connecting ??= open(entry).finally(() => {
      entry.connecting = undefined
    })
    return entry.connecting
  }
  async function open(entry: Entry): Promise<Client> {
    const transport = await options.open(entry.key)
    const client = await options.connect(transport, { onClose: () => closeClient(entry) })
    if (isClosed || entries.get(entry.key.text) !== entry) {
      client.close().catch(() => {})
      throw new ClientError('closed', 'The connection was ended', { mayHaveRun: false })
    }
    entry.client = client
    entry.restarts++
    return client
  }

  function lease(entry: Entry, client: Client): ConnectionLease {
    let isReleased = false
    return {
      client,
      release(failure) {
        if (isReleased) return
        isReleased = true
        settle(entry, failure)
      },
    }
  }

  function settle(entry: Entry, failure: unknown): void {
    const now = clock.now()
    entry.inFlight--
    entry.lastUsed = now
    entry.isTrying = false
    const { tenant } = entry.key
    if (tenant !== undefined) perTenant.add(tenant, -1)
    if (!isTransportFailure(failure)) {
      if (failure === undefined || !(failure instanceof ClientError)) entry.failures = 0
      return
    }
    entry.lastError = failure.message.slice(0, 300)
    entry.failures++
    if (entry.failures < maxFailures) return
    entry.pausedUntil = now + Math.min(firstPauseMs * 2 ** (entry.failures - maxFailures), maxPauseMs)
  }

  const refusal = (why: string, retryAfterMs = 1000): RpcError =>
    unavailable(`${name} ${why}. The call did not run: try again later`, { retryAfterMs })

  return {
    acquire(key) {
      if (isClosed) throw refusal('is closed')
      const entry = entryOf(key)
      const isTrial = entry.failures >= maxFailures
      const waitMs = isTrial ? entry.pausedUntil - clock.now() : 0
      if (waitMs > 0 || entry.isTrying) throw refusal('failed repeatedly', Math.max(waitMs, 1000))
      const ofTenant = key.tenant === undefined ? 0 : perTenant.get(key.tenant)
      if (entry.inFlight >= maxInFlight || ofTenant >= maxPerTenant) throw refusal('has too many calls in flight')
      entry.isTrying = isTrial
      entry.inFlight++
      if (key.tenant !== undefined) perTenant.add(key.tenant, 1)
      if (entry.client) return lease(entry, entry.client)
      return connected(entry).then(
        (client) => lease(entry, client),
        (thrown: unknown) => {
          settle(entry, thrown)
          throw toUpstreamError(notRun(thrown), name)
        },
      )
    },
    states: () => [...entries.values()].map((entry) => stateOf(entry, clock.now())),
    restart(key) {
      for (const entry of [...entries.values()]) if (key === undefined || entry.key.text === key) drop(entry)
      return Promise.resolve()
    },
    async close() {
      isClosed = true
      cancelSweep?.()
      const clients = [...entries.values()].flatMap(({ client }) => (client ? [client] : []))
      entries.clear()
      await Promise.all(clients.map((client) => client.close().catch(() => {})))
    },
  }
}

/** A failed handshake is never a call that ran. */
export const notRun = (thrown: unknown): unknown =>
  thrown instanceof ClientError && thrown.mayHaveRun && thrown.reason !== 'cancelled'
    ? new ClientError(thrown.reason, thrown.message, { mayHaveRun: false, cause: thrown })
    : thrown instanceof Error && !(thrown instanceof ClientError) && !(thrown instanceof RpcError)
      ? new ClientError('protocol', thrown.message, { mayHaveRun: false, cause: thrown })
      : thrown

/** Only failures of the transport count: an upstream that answers with errors works. */
const isTransportFailure = (failure: unknown): failure is ClientError =>
  failure instanceof ClientError &&
  (['unreachable', 'closed', 'timeout'].includes(failure.reason) || (failure.status ?? 0) >= 500)

function stateOf(entry: Entry, now: number): UpstreamConnection {
  const { key, client, connecting, inFlight, restarts, since, lastError, pausedUntil } = entry
  return {
    key: key.text,
    ...(key.tenant !== undefined && { tenant: key.tenant }),
    state: pausedUntil > now ? 'backoff' : client ? 'ready' : connecting ? 'connecting' : 'closed',
    startedAt: since,
    restarts: Math.max(0, restarts - 1),
    inFlight,
    ...(client && { revision: client.agreement.revision }),
    ...(lastError !== undefined && { lastError }),
  }
}
