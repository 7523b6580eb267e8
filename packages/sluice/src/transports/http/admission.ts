/**
 * Asked before a body is read: whether there is room for one more request. Refusing takes the same short time however
 * much is going on, so that a flood costs little and what was let in goes on at its usual speed.
 *
 * What must get through in any case does not come by here, or comes through as what it is: health and metrics are other
 * paths, the console is another port, a client of 2026-07-28 cancels by closing its connection, and DELETE ends a
 * session. Only a cancellation in a legacy session is a message like others: one small enough to be it, in a session that
 * exists, is read first and judged when it is known what it is (`recheck`).
 */

import type { Clock } from '../../core/clock.ts'
import { RpcError } from '../../core/error.ts'
import { networkOf } from '../../core/peer.ts'
import type { Gauge } from '../../core/plugin.ts'
import type { SlotClaim } from '../../core/slots.ts'
import { createSlots, defaultQueue } from '../../core/slots.ts'
import type { Bucket } from '../../core/store.ts'
import type { Pressure, Thresholds } from './hysteresis.ts'
import { lagExemptRequests } from './hysteresis.ts'
import { createConnectionLimiter, createPeerLimiter } from './peer-limiter.ts'

export interface AdmissionOptions {
  /** Requests under way at once, streams that only wait not counted: 1000 unless said. Past it memory grows with load. */
  readonly concurrency?: number
  /** How many may wait: half as many unless said. More would only answer later, to clients that gave up. */
  readonly queue?: number
  /** How long one may wait: 1 s unless said. */
  readonly queueMs?: number
  /**
   * Requests of one address (IPv6: one /64), before anybody is known. Off unless given: behind a proxy all come from one
   * address.
   */
  readonly perPeer?: Bucket
  /** Connections of one address. Off unless given, for the same reason; all together are `maxConnections`. */
  readonly connectionsPerPeer?: number
  /**
   * From which lag of the event loop and which part of the heap on new work is refused: 250 ms and 0.9 by default. The lag
   * counts only while more than a few requests are running: a single client is never refused because a tool computed for
   * long. For `serveHttp`, which can measure its process.
   */
  readonly thresholds?: Thresholds
}

export interface AdmissionDeps {
  readonly clock: Clock
  /** Left out: load is judged by concurrency alone. */
  readonly pressure?: Pressure | undefined
  /** How this process is doing, where that can be measured. */
  measure?(marks: Thresholds | undefined): Pressure
  /** Whether a legacy session is there. */
  hasSession?(id: string): boolean
}

/** One request, as far as the gate looks at it. */
export interface AdmissionRequest {
  readonly method: string
  readonly peer: string
  header(name: string): string | undefined
  /** Calls `then` once the client's connection is closed, so that it stops waiting; the returned function forgets it. */
  onClose?(then: () => void): () => void
}

export interface Admission {
  /** To be asked when the message is read: a refusal, for what was let in unseen and is not what it could have been. */
  recheck(oneWay: boolean): RpcError | undefined | Promise<RpcError | undefined>
  /** Refuses a request that waited too long for the loop. Left out for one that may be a cancellation. */
  readonly tooLate?: () => RpcError
  /** When the response is complete, or has become a stream that only waits. Any number of times. */
  release(): void
}

export interface AdmissionControl {
  admit(knock: AdmissionRequest): Admission | RpcError | Promise<Admission | RpcError>
  /** For each new connection: `undefined` if it must be closed, else what to call when it is. */
  admitConnection(peer: string): (() => void) | undefined
  /** What metrics and the console show of it. */
  readonly gauges: readonly Gauge[]
  readonly load: { readonly running: number; readonly waiting: number; readonly shed: number }
}

/** Bytes: a cancellation with an id of 256 characters and a reason is smaller. */
const maxOneWayBytes = 1024

/** Asked before a body is read. An option of whatever serves HTTP, ready made, so that who has none carries none. */
export type CreateAdmissionControl = (around: AdmissionDeps) => AdmissionControl

/** Asked before a body is read: too many requests are refused in constant time. */
export const admission =
  (options: AdmissionOptions = {}): CreateAdmissionControl =>
  (around) =>
    createAdmissionControl(options, { pressure: around.measure?.(options.thresholds), ...around })

export function createAdmissionControl(
  options: AdmissionOptions,
  { clock, pressure, hasSession }: AdmissionDeps,
): AdmissionControl {
  const {
    concurrency = 1000,
    queue = defaultQueue(concurrency),
    queueMs = 1_000,
    perPeer,
    connectionsPerPeer,
  } = options
  const slots = createSlots({ slots: concurrency, queue })
  const peers = perPeer && createPeerLimiter(perPeer, clock)
  let shed = 0

  /** Each is made once: an error with its stack costs an eighth of all that a refusal does. */
  const refusals: RpcError[] = []
  function overloaded(): RpcError {
    const at = shed++ % 20
    // Clients that are refused together must not come back together.
    const retryAfterMs = 1000 + at * 100
    refusals[at] ??= new RpcError('overloaded', 'The server is busy: wait a few seconds, then try again', {
      data: { retryAfterMs },
    })
    return refusals[at]
  }
  function enter(knock: AdmissionRequest): Admission | RpcError | Promise<Admission | RpcError> {
    const { method, peer } = knock
    const waitMs = peers?.take(peer) ?? 0
    if (waitMs > 0) {
      shed++
      const problem = `Too many requests: wait ${Math.ceil(waitMs / 1000)} s, then try again`
      return new RpcError('rateLimited', problem, { data: { retryAfterMs: waitMs } })
    }
    // What frees something, and what costs nothing, is let in whatever the load.
    if (method !== 'POST' && method !== 'GET') return withoutSlot
    if (pressure?.heapHigh || (pressure?.loopLate && slots.taken >= lagExemptRequests)) return overloaded()
    if (method === 'GET') return withoutSlot
    const free = slots.take()
    return free ? admission(free) : queued(knock)
  }
  const admission = (claim: SlotClaim): Admission => ({
    recheck: noop,
    tooLate: overloaded,
    release: () => claim.release(),
  })
  function queued(knock: AdmissionRequest): Admission | RpcError | Promise<Admission | RpcError> {
    let settle: (refusal: RpcError | undefined) => void = noop
    const claim = slots.wait(networkOf(knock.peer), (held) => settle(held ? undefined : overloaded()))
    if (!claim) return overloaded()
    if (claim.state === 'held') return admission(claim)
    return new Promise((resolve) => {
      let forget: () => void = noop
      settle = (refusal) => {
        settle = noop
        cancelTimer()
        forget()
        if (refusal) claim.release()
        resolve(refusal ?? admission(claim))
      }
      const cancelTimer = clock.after(queueMs, () => settle(overloaded()))
      forget = knock.onClose?.(() => settle(closedByClient())) ?? noop
    })
  }
  function mayBeOneWay(knock: AdmissionRequest): boolean {
    const session = knock.method === 'POST' ? knock.header('mcp-session-id') : undefined
    if (session === undefined || !hasSession?.(session)) return false
    return Number(knock.header('content-length') ?? 'none') <= maxOneWayBytes
  }
  /** Judged when it is read, unless it is one of those that are never refused. */
  function unseen(knock: AdmissionRequest): Admission {
    let inner: Admission = withoutSlot
    let over = false
    const judge = (outcome: Admission | RpcError): RpcError | undefined => {
      if (outcome instanceof RpcError) return outcome
      inner = outcome
      if (over) inner.release()
      return undefined
    }
    return {
      recheck(oneWay) {
        if (oneWay) return undefined
        const outcome = enter(knock)
        return outcome instanceof Promise ? outcome.then(judge) : judge(outcome)
      },
      release() {
        over = true
        inner.release()
      },
    }
  }

  return {
    admit: (knock) => (mayBeOneWay(knock) ? unseen(knock) : enter(knock)),
    admitConnection: createConnectionLimiter(connectionsPerPeer),
    gauges: [
      { name: 'sluice_gate_running', help: 'Requests under way.', type: 'gauge', read: () => slots.taken },
      {
        name: 'sluice_gate_waiting',
        help: 'Requests that wait for a place.',
        type: 'gauge',
        read: () => slots.waiting,
      },
      {
        name: 'sluice_gate_shed_total',
        help: 'Requests turned away before they were read.',
        type: 'counter',
        read: () => shed,
      },
    ],
    get load() {
      return { running: slots.taken, waiting: slots.waiting, shed }
    },
  }
}

const noop = (): undefined => undefined
const closedByClient = (): RpcError => new RpcError('cancelled', 'The client closed the connection')
/** For what holds no slot. */
const withoutSlot: Admission = { recheck: noop, release: noop }
