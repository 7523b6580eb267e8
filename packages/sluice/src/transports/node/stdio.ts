/**
 * One JSON message per line over a pipe, in both directions; calls run side by side and answers go out as they come.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */

import type { Readable, Writable } from 'node:stream'
import type { Via } from '../../core/call.ts'
import { bugOf, RpcError } from '../../core/error.ts'
import { frame, UnsafeMessage } from '../../core/frame.ts'
import { isDroppable, isOneWay, methodOf } from '../../protocol/classify.ts'
import { connect } from '../../protocol/connect.ts'
import type { TransportServer } from '../../protocol/server.ts'
import { subscriptionEnded } from '../../protocol/subscriptions.ts'
import { tooManyRequests } from '../too-many-requests.ts'
import { createLineQueue } from './line-queue.ts'
import { createLineSplitter } from './line-splitter.ts'
import { createLineWriter } from './line-writer.ts'
import { guardStdout } from './stdout-guard.ts'

/** Which streams, how much at once, and how it ends. */
export interface StdioOptions {
  /** Left out, the process's own stdin and stdout: then stdout is guarded, signals end it, and so does the end of input. */
  readonly input?: Readable
  readonly output?: Writable
  readonly maxLineBytes?: number
  /**
   * Requests running at once: 1000 by default. Further ones are refused by their id; answers, cancellations and pings are
   * always taken.
   */
  readonly maxInFlight?: number
  /** How long calls under way may go on after the client closed its end. */
  readonly graceMs?: number
  /** How long calls under way may go on after SIGTERM or SIGINT: 10 s by default. */
  readonly drainMs?: number
  /** After the last call and before the process ends: closes what is yours. For the process's own stdin and stdout. */
  readonly flush?: () => Promise<unknown>
}

/** A server on a pipe. */
export interface StdioListener {
  /** Settles when everything has been said and the connection is closed. */
  readonly closed: Promise<void>
  close(): void
}

/** Bytes unread past which logs and progress are dropped. */
const behindBytes = 1024 * 1024
/** Bytes unread past which changes are dropped too. Answers and questions are bounded by what was asked. */
const maxBufferedBytes = 4 * 1024 * 1024
/** Lines that may wait for their turn before reading stops. They need nothing of the client to be taken. */
const maxQueuedLines = 1000

export function listenStdio(server: TransportServer, options: StdioOptions = {}): StdioListener {
  const { maxLineBytes = 4 * 1024 * 1024, maxInFlight = 1000, graceMs = 1000, drainMs = 10_000 } = options
  const own = options.input === undefined && options.output === undefined
  const input = options.input ?? process.stdin
  const output = options.output ?? process.stdout
  const write = own ? guardStdout() : output.write.bind(output)
  const out = createLineWriter(output, (text) => write(text), {
    stalled() {
      // The client does not read: take no more from it until it does.
      stalled = true
      input.pause()
      // Each line that was read already may ask for much more than its own length.
      pace.pause()
    },
    drained() {
      stalled = false
      complained = false
      pace.resume()
      readOn()
    },
  })
  const connection = connect(server, { send })
  // It listens already; what is not ready refuses call by call, and the log says why.
  server.ready().catch((thrown: unknown) => server.logger.error({ event: 'notReady', ...bugOf(thrown) }))
  const via: Via = { transport: 'stdio', peer: 'stdio', header: () => undefined, connection }
  /** Lines that have no answer yet, for the end of the input. */
  let open = 0
  let running = 0
  let complained = false
  let stalled = false
  let ended = false
  let leaving = false
  let idle: (() => void) | undefined
  let settle = (): void => {}
  const closed = new Promise<void>((resolve) => {
    settle = resolve
  })

  /** At once: clients lose progress that they read together with the answer. */
  function send(message: object): void {
    const unread = output.writableLength
    if (unread > behindBytes && isDroppable(message)) {
      complain()
      return
    }
    // A client that sleeps is not a client that left: the end of the pipe says that.
    if (unread > maxBufferedBytes && !('id' in message)) {
      complain()
      return
    }
    out.write(JSON.stringify(message))
    out.flush()
  }
  /** Once until the client has caught up. */
  function complain(): void {
    if (complained) return
    complained = true
    server.logger.warn({ event: 'clientBehind', message: 'The client does not read: notifications to it are dropped' })
  }
  function readOn(): void {
    if (!stalled && !ended && pace.waiting < maxQueuedLines) input.resume()
  }

  function arrive(line: string): void {
    if (isBlank(line)) return
    open++
    pace.add(line)
    if (pace.waiting >= maxQueuedLines) input.pause()
  }
  function take(line: string): void {
    let message: unknown
    try {
      message = frame(line)
    } catch (thrown) {
      const value = thrown instanceof UnsafeMessage ? thrown.value : undefined
      const refusal = server.reject(thrown, via, value)
      closeLine(isOneWay(value) ? null : refusal)
      return
    }
    // What is answered at once, or ends what is running, is never too much.
    if (isOneWay(message) || methodOf(message) === 'ping') serve(message, 0)
    else if (running < maxInFlight) serve(message, 1)
    else closeLine(server.reject(tooManyRequests(), via, message))
  }
  /** `size` is how much of `maxInFlight` it takes. */
  function serve(message: unknown, size: 0 | 1): void {
    let counted = true
    const done = (answer: string | null): void => {
      if (counted) running -= size
      if (counted) closeLine(answer)
      else if (answer !== null) {
        // A subscription that was accepted, and that this server ended.
        out.write(answer)
        out.write(subscriptionEnded(message))
      }
      counted = false
    }
    running += size
    server.handleText(message, { via, send, stayOpen: () => done(null) }).then(done, (thrown: unknown) => {
      done(server.reject(thrown, via, message))
    })
  }
  function closeLine(answer: string | null): void {
    if (answer !== null) out.write(answer)
    open--
    if (open === 0) idle?.()
  }
  function nextTurn(): void {
    out.flush()
    readOn()
  }
  const pace = createLineQueue(take, nextTurn)
  const lines = createLineSplitter(maxLineBytes, {
    line: arrive,
    notUtf8: () => out.write(server.reject(new RpcError('parseError', 'Parse error: the line is not UTF-8'), via)),
    tooLong() {
      out.write(server.reject(new RpcError('payloadTooLarge', `The line is longer than ${maxLineBytes} bytes`), via))
    },
  })

  /** The client closed its end. What it asked last may still be answered; what takes longer is aborted. */
  function finish(): void {
    lines.end()
    if (open === 0) {
      close()
      return
    }
    const callOff = server.clock.after(graceMs, close)
    idle = () => {
      callOff()
      close()
    }
  }
  /** The calls under way still have their grace, and answers to their questions come in; a second signal ends now. */
  function onSignal(): void {
    if (leaving) process.exit(1)
    leaving = true
    server.shutDown(drainMs).then(() => setImmediate(close), close)
  }
  function close(): void {
    if (ended) return
    ended = true
    idle = undefined
    input.off('data', lines.push)
    input.pause()
    pace.clear()
    for (const signal of signals) process.off(signal, onSignal)
    if (own) end().catch(leave)
    else {
      connection.close()
      leave()
    }
  }
  /** The server first: subscriptions get their last answer from it, and none on a closed connection. */
  async function end(): Promise<void> {
    await server.close().catch(() => {})
    connection.close()
    setImmediate(leave)
  }
  function leave(): void {
    out.flush()
    settle()
    if (!own) return
    // Timers and sockets of a tool must not keep the process of a client that is gone, nor a pipe that nobody reads.
    const exit = (): void => process.exit(0)
    write('', () => {
      if (options.flush) options.flush().then(exit, exit)
      else exit()
    })
    server.clock.after(graceMs, exit)
  }
  input.on('data', lines.push)
  input.on('end', finish)
  input.on('error', close)
  // The reader went away (EPIPE): nobody is left to answer.
  output.on('error', () => {
    connection.close()
    close()
    if (own) process.exit(0)
  })
  const signals = own ? (['SIGINT', 'SIGTERM'] as const) : []
  for (const signal of signals) process.on(signal, onSignal)
  return { closed, close }
}

/** Empty lines keep a pipe alive; they are no messages. */
function isBlank(line: string): boolean {
  for (let at = 0; at < line.length; at++) {
    const code = line.charCodeAt(at)
    if (code !== 0 && code !== 9 && code !== 32) return false
  }
  return true
}
