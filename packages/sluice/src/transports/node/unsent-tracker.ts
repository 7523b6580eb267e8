/**
 * Tracks bytes that clients of `node:http` have not read. They wait in this process, so they are bounded. A connection
 * whose client reads nothing for `stalledMs` is closed. While more than `maxBytes` wait on all connections together,
 * those that read nothing for the longest time are closed first. A slow client keeps its connection, because it is
 * judged by whether bytes leave and not by how many wait.
 */

import type { Socket } from 'node:net'
import type { Clock } from '../../core/clock.ts'
import type { Gauge } from '../../core/plugin.ts'

export interface UnsentTracker {
  /** Watches this connection until its client has read all bytes. */
  track(message: WriteTarget): void
  /** Closes a connection at once, and counts it. */
  destroy(socket: Socket | null): void
  readonly gauges: readonly Gauge[]
}

/** The target of a write: a response, or a socket. */
export interface WriteTarget {
  readonly socket: Socket | null
}

export interface UnsentTrackerOptions {
  readonly clock: Clock
  /** How many bytes may wait on all connections together, by default 64 MiB. */
  readonly maxBytes?: number | undefined
}

/**
 * Unread bytes of one stream above which logs and progress are dropped, because the client would read them too late.
 */
export const behindBytes: number = 1024 * 1024
/**
 * Unread bytes of one stream above which it is closed. Otherwise a client that reads nothing costs hundreds of
 * megabytes.
 */
export const maxBufferedBytes: number = 4 * 1024 * 1024

const stalledMs = 30_000
const sampleMs = 1_000
/** The part of `maxBytes` that remains after connections were closed, so that the next answer does not close more. */
const shrinkTo = 0.75

interface TrackedReader {
  /** Bytes that wait for the client. */
  bytes: number
  /** The last value of `unsentBytesOf` that differed. */
  unsent: number
  /** When the client last read bytes. */
  at: number
}

export function createUnsentTracker({ clock, maxBytes = 64 * 1024 * 1024 }: UnsentTrackerOptions): UnsentTracker {
  const readers = new Map<Socket, TrackedReader>()
  let written: WriteTarget[] = []
  let total = 0
  let closed = 0
  let sampling = false

  function measure(): void {
    const now = clock.now()
    total = 0
    for (const [socket, reader] of readers) {
      reader.bytes = socket.writableLength
      if (reader.bytes === 0 || socket.destroyed) {
        readers.delete(socket)
        continue
      }
      const unsent = unsentBytesOf(socket)
      if (unsent !== reader.unsent) Object.assign(reader, { unsent, at: now })
      total += reader.bytes
    }
  }
  function closeStalled(socket: Socket | null): void {
    if (!socket || socket.destroyed) return
    closed++
    total -= readers.get(socket)?.bytes ?? 0
    readers.delete(socket)
    socket.destroy()
  }
  /** Starts one timer for all connections, and none while all clients read. */
  function schedule(): void {
    if (sampling || readers.size === 0) return
    sampling = true
    clock.after(sampleMs, sample)
  }
  function sample(): void {
    sampling = false
    measure()
    const now = clock.now()
    for (const [socket, { at }] of readers) if (now - at >= stalledMs) closeStalled(socket)
    schedule()
  }
  function makeRoom(): void {
    measure()
    if (total <= maxBytes) return
    for (const [socket] of [...readers].sort(([, a], [, b]) => a.at - b.at)) {
      if (total <= maxBytes * shrinkTo) break
      closeStalled(socket)
    }
  }
  /** Runs at the end of the turn. Until then Node collects writes, so bytes wait for every client. */
  function check(): void {
    const due = written
    written = []
    for (const { socket } of due) {
      if (!socket || socket.destroyed || socket.writableLength === 0) continue
      const known = readers.get(socket)
      const bytes = socket.writableLength
      total += bytes - (known?.bytes ?? 0)
      if (known) known.bytes = bytes
      else readers.set(socket, { bytes, unsent: unsentBytesOf(socket), at: clock.now() })
    }
    if (total > maxBytes) makeRoom()
    schedule()
  }

  return {
    track(message) {
      // The kernel takes most answers at once, and checking them later would cost a turn of the loop each time.
      if (message.socket?.writableLength !== 0 && written.push(message) === 1) setImmediate(check)
    },
    destroy: closeStalled,
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
        read: () => closed,
      },
    ],
  }
}

/**
 * Returns the bytes of the current write that the kernel has not taken. They change as long as the client reads. Only
 * the handle knows them, and Node's socket timeout reads it there too. Without a handle only whole writes are visible.
 */
function unsentBytesOf(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle')
  const queued: unknown =
    typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'writeQueueSize') : undefined
  return typeof queued === 'number' && queued > 0 ? queued : socket.writableLength
}
