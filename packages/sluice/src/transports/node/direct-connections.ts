/**
 * Serves plain POST requests from the socket itself. Parsing them with `node:http` and answering through its objects
 * takes longer than a whole call does here.
 *
 * A connection is read here until something arrives that is not a complete, plain POST for a known path. Then
 * `node:http` gets the connection, for the rest of its life, with all bytes that are not served yet. So each byte is
 * read by exactly one of the two, and slow clients, long bodies, pipelining, upgrades and errors are served by
 * `node:http` as before. At most one request of a connection is served at a time.
 */

import type { Socket } from 'node:net'
import { pathOf } from '../http/app.ts'
import type { RequestHandler } from '../http/routes.ts'
import type { DirectHead } from './direct-head.ts'
import { parseDirectHead } from './direct-head.ts'
import { DirectReply, DirectRequest } from './direct-message.ts'
import type { UnsentTracker } from './unsent-tracker.ts'

export interface DirectConnections {
  accept(socket: Socket): void
  /** Closes connections that wait for a request, and the others after their answer. */
  end(): void
  destroy(): void
}

export interface DirectOptions {
  readonly routes: ReadonlyMap<string, RequestHandler>
  readonly unsent: UnsentTracker
  /** How long a connection may stay without a request. */
  readonly idleMs: number
  /** Passes a connection to `node:http`. */
  handOver(socket: Socket): void
  /** Whether answers tell clients to close the connection. */
  isEnding(): boolean
}

/** The longest head, as that of `node:http`. */
const maxHeadBytes = 16 * 1024
/** Bytes that arrived during a call, above which no more are read. */
const maxEarlyBytes = 64 * 1024
/** How much longer a connection stays than clients are told, because their next request may be on its way. */
const graceMs = 1_000
const endOfHead = Buffer.from('\r\n\r\n')

export function createDirectConnections(options: DirectOptions): DirectConnections {
  const { routes, unsent, idleMs, handOver, isEnding } = options
  const open = new Map<Socket, () => void>()
  const keepAliveLines = `connection: keep-alive\r\nkeep-alive: timeout=${Math.floor(idleMs / 1000)}\r\n`
  const connectionLines = (): string => (isEnding() ? 'connection: close\r\n' : keepAliveLines)

  function accept(socket: Socket): void {
    /** The response that is not complete yet. */
    let reply: DirectReply | undefined
    /** A head whose body has not arrived completely, or bytes that arrived during a call. */
    let kept: Buffer | undefined
    /** The last head and its bytes, because nearly every request of a connection repeats it. */
    let lastBytes: Buffer | undefined
    let lastHead: DirectHead | undefined
    /** Whether the idle time has passed. */
    let isOverdue = false
    const connection = { socket, unsent, connectionLines, complete }

    function onData(chunk: Buffer): void {
      if (isOverdue) setOverdue(false)
      const isSecondPiece = kept !== undefined
      const bytes = kept ? Buffer.concat([kept, chunk]) : chunk
      if (reply) {
        kept = bytes
        if (bytes.length > maxEarlyBytes) socket.pause()
        return
      }
      kept = undefined
      const repeated = lastBytes && startsWith(bytes, lastBytes) ? lastBytes : undefined
      const headBytes = repeated?.length ?? bytes.indexOf(endOfHead) + endOfHead.length
      const head = repeated ? lastHead : headOf(bytes, headBytes)
      const serve = head && routes.get(pathOf(head.url))
      const missing = head ? headBytes + head.bodyBytes - bytes.length : 0
      if (!head || !serve || missing < 0 || (missing > 0 && isSecondPiece)) passOn(bytes)
      // Some clients send the head and the body separately.
      else if (missing > 0) kept = bytes
      else run(serve, new DirectRequest(socket, head, bytes.subarray(headBytes)))
    }
    function headOf(bytes: Buffer, headBytes: number): DirectHead | undefined {
      if (headBytes < endOfHead.length || headBytes > maxHeadBytes) return undefined
      // A copy, because the bytes are part of a chunk that would stay in memory.
      lastBytes = Buffer.from(bytes.subarray(0, headBytes))
      lastHead = parseDirectHead(lastBytes.toString('latin1'))
      return lastHead
    }
    function run(serve: RequestHandler, request: DirectRequest): void {
      reply = new DirectReply(connection)
      serve(request, reply).catch(() => socket.destroy())
    }
    function complete(): void {
      reply = undefined
      if (isEnding()) socket.end()
      else if (kept) {
        const bytes = kept
        kept = undefined
        passOn(bytes)
      }
    }
    function passOn(bytes: Buffer): void {
      release()
      socket.pause()
      socket.unshift(bytes)
      handOver(socket)
      socket.resume()
    }
    /**
     * Closes in two steps. If this process was stopped or starved, the first step is late, and the client has not been
     * idle. Its request then arrives within the grace.
     */
    function onTimeout(): void {
      if (reply) return
      // `node:http` decides how slowly a body may arrive.
      if (kept) passOn(kept)
      else if (isOverdue) socket.destroy()
      else setOverdue(true)
    }
    function setOverdue(overdue: boolean): void {
      isOverdue = overdue
      socket.setTimeout(overdue ? graceMs : idleMs)
    }
    /** A client that ends its side has disconnected, as for `node:http`. */
    function onEnd(): void {
      socket.end()
    }
    function onClose(): void {
      open.delete(socket)
      reply?.disconnected()
      reply = undefined
    }
    function release(): void {
      open.delete(socket)
      socket.setTimeout(0)
      socket.off('data', onData).off('end', onEnd).off('timeout', onTimeout).off('close', onClose).off('error', noop)
    }
    open.set(socket, () => {
      if (!reply) socket.destroy()
    })
    setOverdue(false)
    socket.on('data', onData).on('end', onEnd).on('timeout', onTimeout).on('close', onClose).on('error', noop)
  }

  return {
    accept,
    end() {
      for (const closeIfIdle of open.values()) closeIfIdle()
    },
    destroy() {
      for (const socket of open.keys()) socket.destroy()
    },
  }
}

const startsWith = (bytes: Buffer, start: Buffer): boolean =>
  bytes.length >= start.length && start.compare(bytes, 0, start.length) === 0

const noop = (): void => {}
