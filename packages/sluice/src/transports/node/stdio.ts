/**
 * One JSON message per line over a pipe, in both directions. Calls run concurrently, and answers are sent as they
 * complete.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */

import type { Readable, Writable } from 'node:stream'
import type { Via } from '../../core/call.ts'
import { bugOf, RpcError } from '../../core/error.ts'
import { frame } from '../../core/frame.ts'
import { isDroppable, isOneWay, methodOf } from '../../protocol/classify.ts'
import { connect } from '../../protocol/connect.ts'
import type { MessageContext } from '../../protocol/dispatch.ts'
import type { TransportServer } from '../../protocol/server.ts'
import { subscriptionEnded } from '../../protocol/subscriptions.ts'
import { rejectText } from '../reject-text.ts'
import { tooManyRequests } from '../too-many-requests.ts'
import { createLineQueue } from './line-queue.ts'
import { createLineSplitter } from './line-splitter.ts'
import { createLineWriter } from './line-writer.ts'
import { guardStdout } from './stdout-guard.ts'

/** The streams, the limits, and how the connection ends. */
export interface StdioOptions {
  /**
   * The streams, by default stdin and stdout of the process. Then stdout is guarded, and signals and the end of input
   * end the process.
   */
  readonly input?: Readable
  readonly output?: Writable
  /** The longest line in bytes, by default 4 MiB. */
  readonly maxLineBytes?: number
  /**
   * How many requests may run at once, by default 1000. Further ones are refused by their id. Answers, cancellations
   * and pings are always accepted.
   */
  readonly maxInFlight?: number
  /** How long running calls may continue after the client closed its end, by default 1 s. */
  readonly graceMs?: number
  /** How long running calls may continue after SIGTERM or SIGINT, by default 10 s. */
  readonly drainMs?: number
  /**
   * Called after the last call and before the process ends, to close stores. Only with the process's stdin and stdout.
   */
  readonly flush?: () => Promise<unknown>
}

/** A server on stdio. */
export interface StdioListener {
  /** Settles when everything has been sent and the connection is closed. */
  readonly closed: Promise<void>
  close(): void
}

/** Unread bytes above which logs and progress are dropped. */
const behindBytes = 1024 * 1024
/**
 * Unread bytes above which other notifications are dropped too. Answers and questions are bounded by the number of
 * requests.
 */
const maxBufferedBytes = 4 * 1024 * 1024
/** How many lines may wait for their turn before reading stops. Serving them does not depend on the client. */
const maxQueuedLines = 1000

/** `enter` runs the handling of lines that arrive together, by default as it is. */
export function listenStdio(
  server: TransportServer,
  options: StdioOptions = {},
  enter: (work: () => void) => void = (work) => work(),
): StdioListener {
  const { maxLineBytes = 4 * 1024 * 1024, maxInFlight = 1000, graceMs = 1000, drainMs = 10_000 } = options
  const isProcessStdio = options.input === undefined && options.output === undefined
  const input = options.input ?? process.stdin
  const output = options.output ?? process.stdout
  const write = isProcessStdio ? guardStdout() : output.write.bind(output)
  const out = createLineWriter(output, (text) => write(text), {
    stalled() {
      // The client does not read, so nothing is read from it until it does.
      stalled = true
      input.pause()
      // The answer to a line that was already read may be much longer than the line.
      queue.pause()
    },
    drained() {
      stalled = false
      warned = false
      queue.resume()
      resumeReading()
    },
  })
  const connection = connect(server, { send })
  // It listens at once. Plugins that are not ready refuse each call, and the log says why.
  server.ready().catch((thrown: unknown) => server.logger.error({ event: 'notReady', ...bugOf(thrown) }))
  const via: Via = { transport: 'stdio', peer: 'stdio', header: () => undefined, connection }
  /** The number of lines without an answer yet, for the end of the input. */
  let open = 0
  let running = 0
  let warned = false
  let stalled = false
  let ended = false
  let draining = false
  let idle: (() => void) | undefined
  let settle = (): void => {}
  const closed = new Promise<void>((resolve) => {
    settle = resolve
  })

  /** Sends at once, because clients lose progress that they read together with the answer. */
  function send(message: object): void {
    const unread = output.writableLength
    if (unread > behindBytes && isDroppable(message)) {
      warnBehind()
      return
    }
    // A client that sleeps has not disconnected. Only the end of the pipe says that.
    if (unread > maxBufferedBytes && !('id' in message)) {
      warnBehind()
      return
    }
    out.write(JSON.stringify(message))
    out.flush()
  }
  /** Logs once until the client has caught up. */
  function warnBehind(): void {
    if (warned) return
    warned = true
    server.logger.warn({ event: 'clientBehind', message: 'The client does not read: notifications to it are dropped' })
  }
  function resumeReading(): void {
    if (!stalled && !ended && queue.waiting < maxQueuedLines) input.resume()
  }

  function enqueue(line: string): void {
    if (isBlank(line)) return
    open++
    queue.add(line)
    if (queue.waiting >= maxQueuedLines) input.pause()
  }
  function handleLine(line: string): void {
    let message: unknown
    try {
      message = frame(line)
    } catch (thrown) {
      closeLine(rejectText(server, via, thrown))
      return
    }
    // Messages that are answered at once or end running calls are never refused.
    if (isOneWay(message) || methodOf(message) === 'ping') serve(message, 0)
    else if (running < maxInFlight) serve(message, 1)
    else closeLine(server.reject(tooManyRequests(), via, message))
  }
  /** Serves a message. `size` is how much of `maxInFlight` it takes. */
  function serve(message: unknown, size: 0 | 1): void {
    const context = new LineContext(via, send, message, size, done)
    running += size
    const answer = server.handleText(message, context)
    if (answer instanceof Promise)
      answer.then(
        (settled) => done(context, settled),
        (thrown: unknown) => done(context, server.reject(thrown, via, message)),
      )
    else done(context, answer)
  }
  function done(context: LineContext, answer: string | null): void {
    if (context.counted) {
      context.counted = false
      running -= context.size
      closeLine(answer)
    } else if (answer !== null) {
      // A subscription that was accepted and then ended by this server.
      out.write(answer)
      out.write(subscriptionEnded(context.message))
    }
  }
  function closeLine(answer: string | null): void {
    if (answer !== null) out.write(answer)
    open--
    if (open === 0) idle?.()
  }
  function nextTurn(): void {
    out.flush()
    resumeReading()
  }
  const queue = createLineQueue(handleLine, nextTurn)
  const defining = server.definitionsReady()
  if (defining) {
    queue.pause()
    const resume = (): void => queue.resume()
    defining.then(resume, resume)
  }
  const lines = createLineSplitter(maxLineBytes, {
    line: enqueue,
    notUtf8: () => out.write(server.reject(new RpcError('parseError', 'Parse error: the line is not UTF-8'), via)),
    tooLong() {
      out.write(server.reject(new RpcError('payloadTooLarge', `The line is longer than ${maxLineBytes} bytes`), via))
    },
  })

  const read = (chunk: Buffer): void => enter(() => lines.push(chunk))

  /** Ends after the client closed its end. Its last requests may still be answered; longer ones are aborted. */
  function finish(): void {
    lines.end()
    if (open === 0) {
      close()
      return
    }
    const cancelTimer = server.clock.after(graceMs, close)
    idle = () => {
      cancelTimer()
      close()
    }
  }
  /**
   * Drains on a signal: running calls may still end, and answers to their questions are read. A second signal exits at
   * once.
   */
  function onSignal(): void {
    if (draining) process.exit(1)
    draining = true
    server.shutDown(drainMs).then(() => setImmediate(close), close)
  }
  function close(): void {
    if (ended) return
    ended = true
    idle = undefined
    input.off('data', read)
    input.pause()
    queue.clear()
    for (const signal of signals) process.off(signal, onSignal)
    if (isProcessStdio) end().catch(exitOrSettle)
    else {
      connection.close()
      exitOrSettle()
    }
  }
  /** Closes the server before the connection, so that subscriptions get their last answer. */
  async function end(): Promise<void> {
    await server.close().catch(() => {})
    connection.close()
    setImmediate(exitOrSettle)
  }
  function exitOrSettle(): void {
    out.flush()
    settle()
    if (!isProcessStdio) return
    // Timers and sockets of a tool, or an unread pipe, must not keep the process alive after its client disconnected.
    const exit = (): void => process.exit(0)
    write('', () => {
      if (options.flush) options.flush().then(exit, exit)
      else exit()
    })
    server.clock.after(graceMs, exit)
  }
  input.on('data', read)
  input.on('end', finish)
  input.on('error', close)
  // The reader disconnected (EPIPE), so no client is left to answer.
  output.on('error', () => {
    connection.close()
    close()
    if (isProcessStdio) process.exit(0)
  })
  const signals = isProcessStdio ? (['SIGINT', 'SIGTERM'] as const) : []
  for (const signal of signals) process.on(signal, onSignal)
  return { closed, close }
}

/** The context of one line. A class, because a call would pay for each closure. */
class LineContext implements MessageContext {
  readonly via: Via
  readonly send: (message: object) => void
  readonly message: unknown
  readonly size: 0 | 1
  readonly #done: (context: LineContext, answer: null) => void
  /** Whether the line still counts among the open ones. */
  counted = true
  constructor(
    via: Via,
    send: LineContext['send'],
    message: unknown,
    size: 0 | 1,
    done: (context: LineContext, answer: null) => void,
  ) {
    this.via = via
    this.send = send
    this.message = message
    this.size = size
    this.#done = done
  }
  stayOpen(): void {
    this.#done(this, null)
  }
}

/** Whether the line is empty. Empty lines keep a pipe alive; they are not messages. */
function isBlank(line: string): boolean {
  for (let at = 0; at < line.length; at++) {
    const code = line.charCodeAt(at)
    if (code !== 0 && code !== 9 && code !== 32) return false
  }
  return true
}
