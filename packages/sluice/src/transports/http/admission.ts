/**
 * Admission control: decides, before a body is read, whether there is room for one more request. A refusal takes the
 * same short time under any load, so that a flood costs little and admitted requests keep their speed.
 *
 * Requests that must always get through do not pass here, or are recognized. Health and metrics are other paths, and
 * the console is another port. A client of 2026-07-28 cancels by closing its connection, and DELETE ends a session.
 * Only a cancellation in a legacy session looks like any other message. A body small enough to be one, in a session
 * that exists, is read first and judged when its kind is known (`recheck`).
 */

import type { Clock } from '../../core/clock.ts'
import { RpcError } from '../../core/error.ts'
import { networkOf } from '../../core/peer.ts'
import type { Gauge } from '../../core/plugin.ts'
import type { SlotClaim } from '../../core/slots.ts'
import { createSlots, defaultQueue } from '../../core/slots.ts'
import type { Bucket } from '../../core/store.ts'
import { closedByClient } from './body-errors.ts'
import type { HttpRequest } from './message.ts'
import { createConnectionLimiter, createPeerLimiter } from './peer-limiter.ts'
import type { AdmittedRequests, Pressure, Thresholds } from './pressure.ts'

export interface AdmissionOptions {
  /**
   * Requests in flight at once, by default 1000, without streams that only wait. Without a limit, memory grows with
   * load.
   */
  readonly concurrency?: number
  /**
   * How many requests may wait, by default half of "concurrency". More would only be answered after their clients gave
   * up.
   */
  readonly queue?: number
  /** How long a request may wait, by default 1 s. */
  readonly queueMs?: number
  /**
   * Limits the requests of one address (for IPv6, one /64) before authentication. Off by default, because behind a
   * proxy all requests come from one address.
   */
  readonly perPeer?: Bucket
  /**
   * Limits the connections of one address. Off by default, for the same reason. `maxConnections` limits all together.
   */
  readonly connectionsPerPeer?: number
  /**
   * The used part of the heap from which on new work is refused, by default 0.9. Only for `serveHttp`, which can measure
   * its process.
   */
  readonly thresholds?: Thresholds
}

export interface AdmissionDeps {
  readonly clock: Clock
  /** Measures the pressure on this process. By default load is judged by concurrency alone. */
  measure?(thresholds: Thresholds | undefined, requests: AdmittedRequests): Pressure
  /** Whether a legacy session exists. */
  hasSession?(id: string): boolean
}

/** The parts of a request that admission control reads. */
export type AdmissionRequest = Pick<HttpRequest, 'method' | 'peer' | 'header'> & Partial<Pick<HttpRequest, 'onClose'>>

export interface Admission {
  /**
   * Called when the message is read. Returns a refusal if it was admitted as a possible cancellation, is not one, and
   * finds no room.
   */
  recheck(oneWay: boolean): RpcError | undefined | Promise<RpcError | undefined>
  /**
   * Creates the refusal of a request that waited too long for the event loop. `undefined` if it may be a cancellation.
   */
  readonly tooLate?: () => RpcError
  /** Frees the slot when the response is complete or has become a stream that only waits. May be called many times. */
  release(): void
}

export interface AdmissionControl {
  admit(request: AdmissionRequest): Admission | RpcError | Promise<Admission | RpcError>
  /** Admits a new connection. Returns a function to call when it closes, or `undefined` if it must be closed now. */
  admitConnection(peer: string): (() => void) | undefined
  /** The values that metrics and the console show. */
  readonly gauges: readonly Gauge[]
}

/** In bytes. A cancellation with an id of 256 characters and a reason is smaller. */
const maxOneWayBytes = 1024

/** Creates admission control. It is passed as an option, so that a program without it does not carry its code. */
export type CreateAdmissionControl = (deps: AdmissionDeps) => AdmissionControl

/** Refuses requests in constant time, before their body is read, when there are too many. */
export const admission =
  (options: AdmissionOptions = {}): CreateAdmissionControl =>
  (deps) =>
    createAdmissionControl(options, deps)

export function createAdmissionControl(
  options: AdmissionOptions,
  { clock, hasSession, measure }: AdmissionDeps,
): AdmissionControl {
  const {
    concurrency = 1000,
    queue = defaultQueue(concurrency),
    queueMs = 1_000,
    perPeer,
    connectionsPerPeer,
    thresholds,
  } = options
  const slots = createSlots({ slots: concurrency, queue })
  const peers = perPeer && createPeerLimiter(perPeer, clock)
  let [admitted, shed] = [0, 0]
  const pressure = measure?.(thresholds, {
    get running() {
      return slots.taken
    },
    get finished() {
      return admitted - slots.taken
    },
  })

  /** Each error is made once, because an error with its stack is an eighth of the cost of a refusal. */
  const refusals: RpcError[] = []
  function overloaded(): RpcError {
    const index = shed++ % 20
    // Clients that are refused together must not retry together.
    const retryAfterMs = 1000 + index * 100
    refusals[index] ??= new RpcError(
      'overloaded',
      `The server is busy: wait ${Math.ceil(retryAfterMs / 1000)} s, then try again`,
      { data: { retryAfterMs } },
    )
    return refusals[index]
  }
  function enter(request: AdmissionRequest): Admission | RpcError | Promise<Admission | RpcError> {
    const { method, peer } = request
    const waitMs = peers?.take(peer) ?? 0
    if (waitMs > 0) {
      shed++
      const problem = `Too many requests: wait ${Math.ceil(waitMs / 1000)} s, then try again`
      return new RpcError('rateLimited', problem, { data: { retryAfterMs: waitMs } })
    }
    // Requests that free resources (DELETE) or cost nothing (OPTIONS) are admitted under any load.
    if (method !== 'POST' && method !== 'GET') return withoutSlot
    if (pressure?.heapHigh || pressure?.loopLate(slots.taken)) return overloaded()
    if (method === 'GET') return withoutSlot
    const free = slots.take()
    return free ? admission(free) : queued(request)
  }
  function admission(claim: SlotClaim): Admission {
    admitted++
    return { recheck: noop, tooLate: overloaded, release: () => claim.release() }
  }
  function queued(request: AdmissionRequest): Admission | RpcError | Promise<Admission | RpcError> {
    let settle: (refusal: RpcError | undefined) => void = noop
    const claim = slots.wait(networkOf(request.peer), (held) => settle(held ? undefined : overloaded()))
    if (!claim) return overloaded()
    if (claim.state === 'held') return admission(claim)
    return new Promise((resolve) => {
      let unsubscribe: () => void = noop
      settle = (refusal) => {
        settle = noop
        cancelTimer()
        unsubscribe()
        if (refusal) claim.release()
        resolve(refusal ?? admission(claim))
      }
      const cancelTimer = clock.after(queueMs, () => settle(overloaded()))
      unsubscribe = request.onClose?.(() => settle(closedByClient())) ?? noop
    })
  }
  function mayBeOneWay(request: AdmissionRequest): boolean {
    const session = request.method === 'POST' ? request.header('mcp-session-id') : undefined
    if (session === undefined || !hasSession?.(session)) return false
    return Number(request.header('content-length') ?? 'none') <= maxOneWayBytes
  }
  /** Admits a possible cancellation, to be judged when it is read. */
  function admitUnread(request: AdmissionRequest): Admission {
    let inner: Admission = withoutSlot
    let released = false
    const judge = (outcome: Admission | RpcError): RpcError | undefined => {
      if (outcome instanceof RpcError) return outcome
      inner = outcome
      if (released) inner.release()
      return undefined
    }
    return {
      recheck(oneWay) {
        if (oneWay) return undefined
        const outcome = enter(request)
        return outcome instanceof Promise ? outcome.then(judge) : judge(outcome)
      },
      release() {
        released = true
        inner.release()
      },
    }
  }

  return {
    admit: (request) => (mayBeOneWay(request) ? admitUnread(request) : enter(request)),
    admitConnection: createConnectionLimiter(connectionsPerPeer),
    gauges: [
      { name: 'sluice_gate_running', help: 'Requests in flight.', type: 'gauge', read: () => slots.taken },
      {
        name: 'sluice_gate_waiting',
        help: 'Requests that wait for a slot.',
        type: 'gauge',
        read: () => slots.waiting,
      },
      {
        name: 'sluice_gate_shed_total',
        help: 'Requests refused before they were read.',
        type: 'counter',
        read: () => shed,
      },
    ],
  }
}

const noop = (): undefined => undefined
const withoutSlot: Admission = { recheck: noop, release: noop }
