/**
 * One open socket, independent of the runtime's WebSocket: one JSON message per text frame, in both directions. As on
 * stdio, calls run concurrently, answers are sent as they complete, and a client cancels with
 * `notifications/cancelled`.
 */

import { RpcError } from '../../core/error.ts'
import { frame } from '../../core/frame.ts'
import { hasOneWay, isDroppable, isOneWay, methodOf } from '../../protocol/classify.ts'
import { subscriptionEnded } from '../../protocol/subscriptions.ts'
import type { Admission } from '../http/admission.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { admitOrThrow } from '../http/endpoint.ts'
import { rejectText } from '../reject-text.ts'
import { tooManyRequests } from '../too-many-requests.ts'
import type { PendingSocket } from './accept-upgrade.ts'

export interface RuntimeSocket {
  send(text: string): void
  close(code: number, reason: string): void
  /**
   * Closes at once, without the closing handshake, because that would wait behind data that a stalled reader does not
   * read.
   */
  terminate(): void
  /** Bytes that were sent and not yet read by the client. 0 if the runtime does not say. */
  readonly unsentBytes: number
  /** `undefined` if the runtime detects dead sockets itself, or cannot ping. */
  ping?(): void
  /** Stops reading; `resume` starts it again. `undefined` if a socket cannot be paused. */
  pause?(): void
  resume?(): void
}

/** The path of sockets, the size of messages, and when an idle client is disconnected. */
export interface SocketOptions {
  /** The path of sockets, by default `/ws`. */
  readonly path?: string
  /** The largest message in bytes, by default `maxBodyBytes` of HTTP. */
  readonly maxPayload?: number
  /**
   * How often a client is pinged, by default every 30 s. A client that did not answer the last ping is disconnected.
   */
  readonly pingMs?: number
  /** How long a client without messages, running calls and subscriptions stays connected, by default 30 minutes. */
  readonly idleMs?: number
  /**
   * How many requests of one socket may run at once, by default 100. Further ones are refused by their id. Answers,
   * cancellations and pings are always accepted.
   */
  readonly maxInFlight?: number
}

export interface SocketSession {
  receiveText(message: string): void
  receiveBinary(): void
  /** Called when the client sent a ping. */
  onPing(): void
  onPong(): void
  /** Called when the client has read sent data. For sockets that can pause. */
  onDrain(): void
  /** Called when the socket is closed, by either side. */
  onClose(): void
  /** Closes the socket with a close frame. */
  close(code: number, reason: string): void
  /** Whether no call is running on the socket. */
  readonly idle: boolean
}

/**
 * Unsent bytes above which logs and progress are dropped and the socket is not read, because its client does not read
 * either.
 */
const behindBytes = 1024 * 1024
/**
 * Unsent bytes above which a message without a request closes the socket. Answers are bounded by the number of
 * requests.
 */
const maxUnsentBytes = 4 * 1024 * 1024
/**
 * How many notifications and responses are processed at once, as a multiple of `maxInFlight`. They end by themselves.
 */
const oneWayFactor = 4
/** How many pings a client may send between two of ours. The runtime answers each with a frame, so more are a flood. */
const maxPings = 1000

/** Close codes of RFC 6455 §7.4 and of its registry. */
const closeCodes = {
  idle: 1000,
  unsupported: 1003,
  policy: 1008,
  tooLarge: 1009,
  failed: 1011,
  unauthorized: 3000,
} as const

export function createSocketSession(
  context: EndpointContext,
  pending: PendingSocket,
  socket: RuntimeSocket,
  options: SocketOptions,
): SocketSession {
  const { server, admissionControl } = context
  const { via, stop } = pending
  const { maxPayload = context.maxBodyBytes, pingMs = 30_000, idleMs = 30 * 60_000, maxInFlight = 100 } = options
  const { clock } = server
  const { connection } = via
  const admissionRequest = {
    method: 'POST',
    peer: via.peer,
    header: () => undefined,
    onClose: (then: () => void) => stop.onStop(then),
  }
  let running = 0
  let oneWay = 0
  let paused = false
  let closed = false
  let ponged = true
  let pings = 0
  let lastMessageAt = clock.now()
  let cancelTimer = clock.after(pingMs, tick)

  function tick(): void {
    cancelTimer = clock.after(pingMs, tick)
    pings = 0
    const waits = connection.inFlight.size > 0 || connection.state.subscriptions.size > 0
    if (socket.ping && !ponged) end(() => socket.terminate())
    else if (!waits && clock.now() - lastMessageAt >= idleMs) close(closeCodes.idle, 'Idle')
    else {
      ponged = false
      socket.ping?.()
    }
  }
  function end(closeSocket?: () => void): void {
    if (closed) return
    closed = true
    cancelTimer()
    // This also ends the credential monitor.
    stop.stop(new RpcError('cancelled', 'The connection is closed'))
    connection.close()
    closeSocket?.()
  }
  const close = (code: number, reason: string): void => end(() => socket.close(code, reason))

  /**
   * Stops reading from a client that does not read, and from one that sends notifications faster than they are
   * processed.
   */
  function pace(): void {
    const full = socket.unsentBytes > behindBytes || oneWay >= oneWayFactor * maxInFlight
    if (full === paused || closed) return
    paused = full
    if (full) socket.pause?.()
    else socket.resume?.()
  }
  function sendText(text: string): void {
    if (closed) return
    // A socket that cannot be paused is bounded by bytes only.
    if (!socket.pause && socket.unsentBytes > maxUnsentBytes) {
      end(() => socket.terminate())
      return
    }
    socket.send(text)
    pace()
  }
  function send(message: object): void {
    const { unsentBytes } = socket
    if (unsentBytes > behindBytes && isDroppable(message)) context.countDropped()
    else if (unsentBytes > maxUnsentBytes && !closed) end(() => socket.terminate())
    else sendText(JSON.stringify(message))
  }

  async function receive(text: string): Promise<void> {
    let message: unknown
    try {
      message = frame(text)
    } catch (thrown) {
      const refusal = rejectText(server, via, thrown)
      if (refusal !== null) sendText(refusal)
      return
    }
    if (isOneWay(message)) await handleOneWay(message)
    else await serve(message)
  }

  /**
   * Accepts every notification and response. Otherwise calls that wait for one, or that it cancels, would keep their
   * slots for ever.
   */
  async function handleOneWay(message: unknown): Promise<void> {
    // A flood is dropped if reading cannot be paused.
    if (!socket.pause && oneWay >= oneWayFactor * maxInFlight) return
    oneWay++
    pace()
    try {
      // Checked here, because one-way messages do not pass the authentication layer.
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
      if (admissionControl && !isPing) admission = await admitOrThrow(admissionControl, admissionRequest)
      if (hasOneWay(message)) await server.authorizeConnection(via)
      let stays = false
      const stayOpen = (): void => {
        stays = true
        done()
      }
      const answer = await server.handleText(message, { via, send, stayOpen })
      if (answer !== null) sendText(answer)
      if (answer !== null && stays) sendText(subscriptionEnded(message))
    } catch (thrown) {
      sendText(server.reject(thrown, via, message))
    } finally {
      done()
    }
  }

  pending.send = send
  stop.onStop(({ reason }) => {
    if (reason === 'unauthorized') close(closeCodes.unauthorized, 'The credential has ended')
  })
  return {
    receiveText(message) {
      if (closed) return
      lastMessageAt = clock.now()
      ponged = true
      if (isLonger(message, maxPayload)) close(closeCodes.tooLarge, `Messages have at most ${maxPayload} bytes`)
      else receive(message).catch(() => close(closeCodes.failed, 'Internal error'))
    },
    receiveBinary: () => close(closeCodes.unsupported, 'One JSON message per text frame'),
    onPing() {
      if (++pings > maxPings) close(closeCodes.policy, 'Too many pings')
    },
    onPong() {
      ponged = true
    },
    onDrain: pace,
    onClose: () => end(),
    close,
    get idle() {
      return connection.inFlight.size === 0
    },
  }
}

/** Compares in bytes of UTF-8, counted only if the number of characters does not decide. */
const isLonger = (text: string, bytes: number): boolean =>
  text.length > bytes || (text.length * 3 > bytes && new TextEncoder().encode(text).byteLength > bytes)
