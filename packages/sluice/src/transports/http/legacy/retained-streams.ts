/**
 * The past events of streams that clients may resume, bounded per stream, per session and per process. Streams that
 * have ended are also bounded in time. The stream that ended first is forgotten first. A running stream whose past is
 * forgotten continues, but can no longer be resumed from before.
 */

import type { Clock } from '../../../core/clock.ts'
import type { ReplayStream, StreamLog } from './replay-stream.ts'
import { createReplayStream, resumeMs } from './replay-stream.ts'

/** Limits in characters. */
export const streamLimits: { readonly stream: number; readonly session: number; readonly process: number } = {
  stream: 256 * 1024,
  session: 1024 * 1024,
  process: 32 * 1024 * 1024,
}
const maxStreams = 64

export interface SessionStreams {
  open(id: string, primed: boolean, log: StreamLog | undefined): ReplayStream
  get(id: string): ReplayStream | undefined
  /** Closes the connections of all streams, and forgets their events. */
  close(): void
}

export interface RetainedStreams {
  forSession(): SessionStreams
  /** Forgets the streams that ended too long ago. */
  sweep(): void
  /** Characters kept by this process. */
  readonly size: number
}

interface RetainedStream {
  readonly stream: ReplayStream
  readonly session: { readonly streams: Map<string, RetainedStream>; size: number }
  /** When a sweep first found the stream ended. */
  endedAt: number | undefined
}

export function createRetainedStreams(clock: Clock): RetainedStreams {
  /** Oldest first. */
  const all = new Set<RetainedStream>()
  let size = 0

  function forget(retained: RetainedStream): void {
    retained.stream.forget()
    if (!retained.stream.closed) return
    all.delete(retained)
    retained.session.streams.delete(retained.stream.id)
  }
  /** Forgets ended streams first, then the past of running ones. */
  function shrink(streams: () => Iterable<RetainedStream>, isFull: () => boolean): void {
    for (const ended of [true, false])
      for (const retained of streams()) {
        if (!isFull()) return
        if (retained.stream.closed === ended) forget(retained)
      }
  }
  function ofSession(): SessionStreams {
    const session: RetainedStream['session'] = { streams: new Map(), size: 0 }
    const { streams } = session
    return {
      open(id, primed, log) {
        const stream = createReplayStream(id, primed, streamLimits.stream, log, (by) => {
          // A call may outlive its session. No client can come for the events it still writes, so they are not counted.
          if (!streams.has(id)) return
          session.size += by
          size += by
          if (by <= 0) return
          shrink(
            () => streams.values(),
            () => session.size > streamLimits.session,
          )
          shrink(
            () => all,
            () => size > streamLimits.process,
          )
        })
        const retained: RetainedStream = { stream, session, endedAt: undefined }
        streams.set(id, retained)
        all.add(retained)
        const ended = [...streams.values()].filter((each) => each.stream.closed)
        shrink(
          () => ended,
          () => streams.size > maxStreams,
        )
        return stream
      },
      get: (id) => streams.get(id)?.stream,
      close() {
        for (const retained of streams.values()) {
          all.delete(retained)
          size -= retained.stream.size
          retained.stream.release()
        }
        session.size = 0
        streams.clear()
      },
    }
  }
  return {
    forSession: ofSession,
    sweep() {
      for (const retained of all) {
        if (!retained.stream.closed) continue
        retained.endedAt ??= clock.now()
        if (retained.endedAt + resumeMs <= clock.now()) forget(retained)
      }
    },
    get size() {
      return size
    },
  }
}
