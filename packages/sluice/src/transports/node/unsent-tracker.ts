/**
 * Bytes that clients of `node:http` do not read. They wait in this process, so they are bounded: a connection that takes
 * nothing for `stalledMs` is cut, and while more than `maxBytes` wait on all connections together, those that took nothing
 * for the longest time are cut first. A client that reads slowly keeps its connection, because it is judged by whether
 * bytes leave and not by how many wait.
 */

import type { Socket } from 'node:net'
import type { Clock } from '../../core/clock.ts'
import type { Gauge } from '../../core/plugin.ts'

export interface UnsentTracker {
  /** Looks after this connection until its client has taken all bytes. */
  track(message: WriteTarget): void
  /** Closes a connection at once, and counts it. */
  destroy(socket: Socket | null): void
  readonly gauges: readonly Gauge[]
}

/** What bytes were written to: a response, or a socket of its own. */
export interface WriteTarget {
  readonly socket: Socket | null
}

export interface UnsentTrackerOptions {
  readonly clock: Clock
  /** Bytes that may wait on all connections together. */
  readonly maxBytes?: number | undefined
}

/** Bytes on one stream past which logs and progress are dropped: the client reads them later than they are worth. */
export const behindBytes: number = 1024 * 1024
/** Bytes on one stream past which it is cut: without this, a client that reads nothing costs hundreds of megabytes. */
export const maxBufferedBytes: number = 4 * 1024 * 1024

const stalledMs = 30_000
const sampleMs = 1_000
/** What is left after a cut, so that the next answer does not need one again. */
const shrinkTo = 0.75

interface TrackedReader {
  /** Bytes that wait for it. */
  bytes: number
  /** What `unsentBytesOf` said when it last changed. */
  left: number
  /** When bytes last left. */
  at: number
}

export function createUnsentTracker({ clock, maxBytes = 64 * 1024 * 1024 }: UnsentTrackerOptions): UnsentTracker {
  const readers = new Map<Socket, TrackedReader>()
  let written: WriteTarget[] = []
  let total = 0
  let cuts = 0
  let sampling = false

  function look(): void {
    const now = clock.now()
    total = 0
    for (const [socket, reader] of readers) {
      reader.bytes = socket.writableLength
      if (reader.bytes === 0 || socket.destroyed) {
        readers.delete(socket)
        continue
      }
      const left = unsentBytesOf(socket)
      if (left !== reader.left) Object.assign(reader, { left, at: now })
      total += reader.bytes
    }
  }
  function cut(socket: Socket | null): void {
    if (!socket || socket.destroyed) return
    cuts++
    total -= readers.get(socket)?.bytes ?? 0
    readers.delete(socket)
    socket.destroy()
  }
  /** One timer for all, and none while all clients read. */
  function schedule(): void {
    if (sampling || readers.size === 0) return
    sampling = true
    clock.after(sampleMs, sample)
  }
  function sample(): void {
    sampling = false
    look()
    const now = clock.now()
    for (const [socket, { at }] of readers) if (now - at >= stalledMs) cut(socket)
    schedule()
  }
  function makeRoom(): void {
    look()
    if (total <= maxBytes) return
    for (const [socket] of [...readers].sort(([, a], [, b]) => a.at - b.at)) {
      if (total <= maxBytes * shrinkTo) break
      cut(socket)
    }
  }
  /** At the end of the turn: until then Node gathers what was written, and bytes wait for every client. */
  function check(): void {
    const due = written
    written = []
    for (const { socket } of due) {
      if (!socket || socket.destroyed || socket.writableLength === 0) continue
      const known = readers.get(socket)
      const bytes = socket.writableLength
      total += bytes - (known?.bytes ?? 0)
      if (known) known.bytes = bytes
      else readers.set(socket, { bytes, left: unsentBytesOf(socket), at: clock.now() })
    }
    if (total > maxBytes) makeRoom()
    schedule()
  }

  return {
    track(message) {
      // Most answers are with the kernel at once, and checking them later would cost a turn of the loop each time.
      if (message.socket?.writableLength !== 0 && written.push(message) === 1) setImmediate(check)
    },
    destroy: cut,
    gauges: [
      {
        name: 'sluice_unsent_bytes',
        help: 'Bytes of answers that clients have not read.',
        type: 'gauge',
        read: () => total,
      },
      {
        name: 'sluice_connections_cut_total',
        help: 'Connections closed because their client did not read, or did not stop sending.',
        type: 'counter',
        read: () => cuts,
      },
    ],
  }
}

/**
 * Bytes the kernel has not taken of the write in progress: they change as long as the client reads. Node tells it of its
 * handle alone, where its own socket timeout looks too; elsewhere whole writes are all there is to see.
 */
export function unsentBytesOf(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle')
  const queued: unknown =
    typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'writeQueueSize') : undefined
  return typeof queued === 'number' && queued > 0 ? queued : socket.writableLength
}
