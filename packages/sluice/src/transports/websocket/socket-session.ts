/**
 * One open socket: a JSON message per text frame, in both directions, without knowing whose WebSocket it is. As on a
 * pipe, calls run side by side, answers go out as they come, and a client cancels with `notifications/cancelled`.
 */

import { RpcError } from '../../core/error.ts'
import { frame, UnsafeMessage } from '../../core/frame.ts'
import { hasOneWay, isDroppable, isOneWay, methodOf } from '../../protocol/classify.ts'
import { subscriptionEnded } from '../../protocol/subscriptions.ts'
import type { Admission } from '../http/admission.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { admitOrThrow } from '../http/endpoint.ts'
import { tooManyRequests } from '../too-many-requests.ts'
import type { PendingSocket } from './accept-upgrade.ts'

/** What a runtime's socket can do. */
export interface RuntimeSocket {
  send(text: string): void
  close(code: number, reason: string): void
  /** At once, without the closing handshake: that would wait behind what a stalled reader does not take. */
  terminate(): void
  /** Bytes that were sent and not yet taken; 0 where the runtime does not tell. */
  readonly unsentBytes: number
  /** Left out where the runtime looks after dead sockets itself, or cannot. */
  ping?(): void
  /** Stops and starts reading; left out where a socket cannot. */
  pause?(): void
  resume?(): void
}

/** Where sockets are opened, how large messages may be, and when a silent client is let go. */
export interface SocketOptions {
  /** Where sockets are opened: `/ws` unless said. */
  readonly path?: string
  /** Bytes of one message: what a body may have over HTTP unless said. */
  readonly maxPayload?: number
  /** How often a client is asked whether it is there; one that did not answer the last time is cut off: 30 s unless said. */
  readonly pingMs?: number
  /** A client that says nothing, waits for nothing and subscribed to nothing is let go after this: 30 minutes unless said. */
  readonly idleMs?: number
  /**
   * Requests of one socket running at once: 100 by default. Further ones are refused by their id; answers, cancellations
   * and pings are always taken.
   */
  readonly maxInFlight?: number
}

export interface SocketSession {
  receiveText(message: string): void
  receiveBinary(): void
  /** The other side asked whether we are there. */
  onPing(): void
  onPong(): void
  /** What was sent has been taken by the client. For wires that can pause. */
  onDrain(): void
  /** The socket is closed, whoever did it. */
  onClose(): void
  /** Says goodbye. */
  close(code: number, reason: string): void
  /** Whether no call is under way on it. */
  readonly idle: boolean
}

/** Bytes unsent past which logs and progress are dropped and the socket is not read: its client does not read either. */
const behindAt = 1024 * 1024
/** Bytes unsent past which a message that no request asked for cuts the socket. Answers are bounded by what was asked. */
const maxWaiting = 4 * 1024 * 1024
/** Notifications and responses that may be looked at at once, by times of `maxInFlight`. They end by themselves. */
const oneWayFactor = 4
/** Pings are answered by the runtime, each with a frame of its own: past this many between two of ours it is a flood. */
const maxPings = 1000

/** Close codes: RFC 6455 §7.4 and the registry it opened. */
const closeCodes = {
  idle: 1000,
  unsupported: 1003,
  policy: 1008,
  tooLarge: 1009,
  failed: 1011,
  unauthorized: 3000,
} as const

export function createSocketSession(
  around: EndpointContext,
  guest: PendingSocket,
  wire: RuntimeSocket,
  options: SocketOptions,
): SocketSession {
  const { server, admissionControl } = around
  const { via, stop } = guest
  const { maxPayload = around.maxBodyBytes, pingMs = 30_000, idleMs = 30 * 60_000, maxInFlight = 100 } = options
  const { clock } = server
  const { connection } = via
  const knock = {
    method: 'POST',
    peer: via.peer,
    header: () => undefined,
    onClose: (then: () => void) => stop.onStop(then),
  }
  let running = 0
  let oneWay = 0
  let paused = false
  let over = false
  let answered = true
  let pings = 0
  let heardAt = clock.now()
  let callOff = clock.after(pingMs, tick)

  function tick(): void {
    callOff = clock.after(pingMs, tick)
    pings = 0
    const waits = connection.inFlight.size > 0 || connection.state.subscriptions.size > 0
    if (wire.ping && !answered) end(() => wire.terminate())
    else if (!waits && clock.now() - heardAt >= idleMs) close(closeCodes.idle, 'Idle')
    else {
      answered = false
      wire.ping?.()
    }
  }
  function end(how?: () => void): void {
    if (over) return
    over = true
    callOff()
    // The watch over the credential ends with it.
    stop.stop(new RpcError('cancelled', 'The connection has ended'))
    connection.close()
    how?.()
  }
  const close = (code: number, reason: string): void => end(() => wire.close(code, reason))

  /** Stops reading a client that does not read, and one whose notifications come faster than they are looked at. */
  function pace(): void {
    const full = wire.unsentBytes > behindAt || oneWay >= oneWayFactor * maxInFlight
    if (full === paused || over) return
    paused = full
    if (full) wire.pause?.()
    else wire.resume?.()
  }
  function say(text: string): void {
    if (over) return
    // A socket that cannot be paused is bounded by bytes alone.
    if (!wire.pause && wire.unsentBytes > maxWaiting) {
      end(() => wire.terminate())
      return
    }
    wire.send(text)
    pace()
  }
  function send(message: object): void {
    const { unsentBytes } = wire
    if (unsentBytes > behindAt && isDroppable(message)) around.countDropped()
    else if (unsentBytes > maxWaiting && !over) end(() => wire.terminate())
    else say(JSON.stringify(message))
  }

  async function take(text: string): Promise<void> {
    let message: unknown
    try {
      message = frame(text)
    } catch (thrown) {
      const value = thrown instanceof UnsafeMessage ? thrown.value : undefined
      const refusal = server.reject(thrown, via, value)
      if (!isOneWay(value)) say(refusal)
      return
    }
    if (isOneWay(message)) await hear(message)
    else await serve(message)
  }

  /** Always taken: calls that wait for it, or that it ends, would otherwise hold their places for ever. */
  async function hear(message: unknown): Promise<void> {
    // Where reading cannot be stopped, a flood is dropped.
    if (!wire.pause && oneWay >= oneWayFactor * maxInFlight) return
    oneWay++
    pace()
    try {
      // It passes no layer that would ask who sent it.
      await server.authorizeConnection(via)
      await server.handleText(message, { via, send })
    } catch (thrown) {
      server.reject(thrown, via, message)
    } finally {
      oneWay--
      pace()
    }
  }

  async function serve(message: unknown): Promise<void> {
    const isPing = methodOf(message) === 'ping'
    let admission: Admission | undefined
    let held = !isPing
    const done = (): void => {
      if (held) running--
      held = false
      admission?.release()
    }
    try {
      if (!isPing && running >= maxInFlight) {
        held = false
        throw tooManyRequests()
      }
      if (held) running++
      if (admissionControl && !isPing) admission = await admitOrThrow(admissionControl, knock)
      if (hasOneWay(message)) await server.authorizeConnection(via)
      let stays = false
      const endless = (): void => {
        stays = true
        done()
      }
      const answer = await server.handleText(message, { via, send, stayOpen: endless })
      if (answer !== null) say(answer)
      if (answer !== null && stays) say(subscriptionEnded(message))
    } catch (thrown) {
      say(server.reject(thrown, via, message))
    } finally {
      done()
    }
  }

  guest.send = send
  stop.onStop(({ reason }) => {
    if (reason === 'unauthorized') close(closeCodes.unauthorized, 'The credential has ended')
  })
  return {
    receiveText(message) {
      if (over) return
      heardAt = clock.now()
      answered = true
      if (isLonger(message, maxPayload)) close(closeCodes.tooLarge, `Messages have at most ${maxPayload} bytes`)
      else take(message).catch(() => close(closeCodes.failed, 'Internal error'))
    },
    receiveBinary: () => close(closeCodes.unsupported, 'One JSON message per text frame'),
    onPing() {
      if (++pings > maxPings) close(closeCodes.policy, 'Too many pings')
    },
    onPong() {
      answered = true
    },
    onDrain: pace,
    onClose: () => end(),
    close,
    get idle() {
      return connection.inFlight.size === 0
    },
  }
}

/** In bytes of UTF-8, counted only where the length leaves it open. */
const isLonger = (text: string, bytes: number): boolean =>
  text.length > bytes || (text.length * 3 > bytes && new TextEncoder().encode(text).byteLength > bytes)
