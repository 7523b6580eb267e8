/**
 * One JSON message per line over a pipe, in both directions; calls run side by side and answers go out as they come.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */

import type { Readable, Writable } from 'node:stream'
import type { Via } from '../core/call.ts'
import { bugOf, RpcError } from '../core/error.ts'
import { frame, Unsound } from '../core/frame.ts'
import { isOneWay } from '../protocol/classify.ts'
import type { Server } from '../protocol/server.ts'
import { createLinePace } from './line-pace.ts'
import { createLineWriter } from './line-writer.ts'
import { createLineSplitter } from './lines.ts'
import { guardStdout } from './stdout-guard.ts'

/** Which streams, how much at once, and how it ends. */
export interface StdioOptions {
  /** Left out, the process's own stdin and stdout: then stdout is guarded, signals end it, and so does the end of input. */
  readonly input?: Readable
  readonly output?: Writable
  readonly maxLineBytes?: number
  /** Reading stops while this many calls wait or are under way. */
  readonly maxInFlight?: number
  /** How long calls under way may go on after the client closed its end. */
  readonly graceMs?: number
  /** After the last call and before the process ends: closes what is yours. For the process's own stdin and stdout. */
  readonly flush?: () => Promise<unknown>
}

/** A server on a pipe. */
export interface StdioServing {
  /** Settles when everything has been said and the connection is closed. */
  readonly closed: Promise<void>
  close(): void
}

/** Bytes that may lie unread when a notification comes. */
const maxUnsent = 1024 * 1024

export function listenStdio(server: Server, options: StdioOptions = {}): StdioServing {
  const { maxLineBytes = 4 * 1024 * 1024, maxInFlight = 1000, graceMs = 1000 } = options
  const own = options.input === undefined && options.output === undefined
  const input = options.input ?? process.stdin
  const output = options.output ?? process.stdout
  const write = own ? guardStdout() : output.write.bind(output)
  const out = createLineWriter(output, (text) => write(text), {
    stalled() {
      // The client does not read: take no more from it until it does.
      stalled = true
      input.pause()
    },
    drained() {
      stalled = false
      readOn()
    },
  })
  const connection = server.connect({ send })
  // It listens already; what is not ready refuses call by call, and the log says why.
  server.ready().catch((thrown: unknown) => server.logger.error({ event: 'notReady', ...bugOf(thrown) }))
  const via: Via = { transport: 'stdio', peer: 'stdio', header: () => undefined, connection }
  let inFlight = 0
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
    // Answers are bounded by what was asked. What nobody asked for is not, and a reader this far behind has gone.
    if (output.writableLength > maxUnsent) {
      close()
      return
    }
    out.put(JSON.stringify(message))
    out.flush()
  }
  function readOn(): void {
    if (!stalled && !ended && inFlight < maxInFlight) input.resume()
  }

  function arrive(line: string): void {
    if (isBlank(line)) return
    // What waits for its turn counts too, or it would be read without bound.
    if (++inFlight >= maxInFlight) input.pause()
    pace.add(line)
  }
  function take(line: string): void {
    let counted = true
    const done = (): void => {
      if (!counted) return
      counted = false
      inFlight--
      if (inFlight === maxInFlight - 1) readOn()
      if (inFlight === 0) idle?.()
    }
    const say = (answer: string | null): void => {
      if (answer !== null) out.put(answer)
      done()
    }
    try {
      // Never rejects; if it did, the pipe must go on.
      server.text(frame(line), { via, send, endless: done }).then(say, done)
    } catch (thrown) {
      const value = thrown instanceof Unsound ? thrown.value : undefined
      const refusal = server.refuse(thrown, via, value)
      say(isOneWay(value) ? null : refusal)
    }
  }
  const pace = createLinePace(take, out.flush)
  const lines = createLineSplitter(maxLineBytes, {
    line: arrive,
    notUtf8: () => out.put(server.refuse(new RpcError('parseError', 'Parse error: the line is not UTF-8'), via)),
    tooLong() {
      out.put(server.refuse(new RpcError('payloadTooLarge', `The line is longer than ${maxLineBytes} bytes`), via))
    },
  })

  /** The client closed its end. What it asked last may still be answered; what takes longer is aborted. */
  function finish(): void {
    lines.end()
    if (inFlight === 0) {
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
    server.finish(graceMs).then(() => setImmediate(close), close)
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
