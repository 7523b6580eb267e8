/** The memory that lets a client of a legacy session resume a stream where it broke off. */

import type { EventWriter } from '../events.ts'
import { toEvent } from '../events.ts'

/** How long a client may take to come back to a stream that has ended. */
export const resumeMs: number = 10 * 60_000

/** A stream that outlives its connection: what was sent is kept, up to a limit, and can be sent again from any event on. */
export interface ReplayStream {
  readonly id: string
  write(data: string): void
  /** No more will come. */
  close(): void
  /** Ends the connection, not the stream: the client is told when to come back. */
  detach(): void
  /** Its client is on another connection now, and listens there. */
  release(): unknown
  /** Forgets what was sent: it cannot be resumed from there any more. */
  forget(): void
  /** Whether all events after this one are still known. */
  canReplayFrom(after: number): boolean
  /** Goes on to this sink, after the event that was received last. */
  attach(sink: EventWriter, after?: number): void
  readonly closed: boolean
  /** Characters kept. */
  readonly size: number
  /** As that of its sink. */
  readonly behind?: boolean
}

/**
 * Where the events of a stream are kept for other processes too: first kept, then said, so that whatever a client has
 * heard it can come back to. `say` tells whether anybody is connected here.
 */
export interface StreamLog {
  write(number: number, data: string, say: () => boolean): void
  forget(number: number): void
  close(say: () => boolean): void
  /** When everything so far has been said. */
  afterWrites(then: () => void): void
  /** Forgets it all. */
  deleteAll(): void
}

/** In milliseconds. */
export const retryField: string = 'retry: 1000\n\n'

/** `primed`: the first event only carries an id, so that a client can resume before anything was said (2025-11-25). */
export function createReplayStream(
  id: string,
  primed: boolean,
  maxSize: number,
  log?: StreamLog,
  resized: (by: number) => void = () => {},
): ReplayStream {
  let events: { readonly number: number; readonly data: string }[] = []
  let sent = 0
  let size = 0
  /** The last event that is no longer known. */
  let forgotten = 0
  let sink: EventWriter | undefined
  let finished = false
  /** The last event that went to this sink. */
  let told = 0
  const say = (number: number, data: string): boolean => {
    if (!sink || sink.closed) return false
    if (number > told) sink.write(toEvent(data, `${id}.${number}`))
    told = Math.max(told, number)
    return true
  }
  const release = (): boolean => {
    const heard = sink !== undefined && !sink.closed
    sink?.close()
    sink = undefined
    return heard
  }
  const detach = (): void => {
    sink?.write(retryField)
    release()
  }
  const resize = (to: number): void => {
    const by = to - size
    size = to
    resized(by)
  }
  function forgetUpTo(last: number): void {
    if (last <= forgotten) return
    forgotten = last
    events = events.filter(({ number }) => number > last)
    resize(events.reduce((total, { data }) => total + data.length, 0))
  }
  return {
    id,
    write(data) {
      const number = ++sent
      events.push({ number, data })
      if (log) log.write(number, data, () => say(number, data))
      else say(number, data)
      let kept = size + data.length
      let last = forgotten
      for (const event of events) {
        if (kept <= maxSize || event.number === number) break
        kept -= event.data.length
        last = event.number
        log?.forget(last)
      }
      resize(size + data.length)
      forgetUpTo(last)
    },
    close() {
      if (finished) return
      finished = true
      if (log) log.close(release)
      else release()
    },
    detach() {
      if (log) log.afterWrites(detach)
      else detach()
    },
    release,
    forget() {
      forgetUpTo(sent)
      log?.deleteAll()
    },
    canReplayFrom: (after) => after >= forgotten && after <= sent,
    attach(next, after) {
      // The newest connection is the one the client listens on; an older one is most likely dead.
      sink?.close()
      sink = next
      told = after ?? 0
      if (after === undefined && primed) next.write(`id: ${id}.0\ndata: \n\n`)
      if (after !== undefined) for (const { number, data } of events) say(number, data)
      if (after !== undefined) forgetUpTo(Math.min(after, sent))
      if (finished) next.close()
    },
    get closed() {
      return finished
    },
    get size() {
      return size
    },
    get behind() {
      return sink?.behind ?? false
    },
  }
}

/** An event id back into its stream and number. */
export function parseEventId(text: string): { stream: string; after: string } | undefined {
  const dot = text.lastIndexOf('.')
  const after = text.slice(dot + 1)
  return dot > 0 && /^\d{1,16}$/.test(after) ? { stream: text.slice(0, dot), after } : undefined
}
