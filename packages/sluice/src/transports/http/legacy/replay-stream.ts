/** Streams whose past events are kept, so that a client of a legacy session can resume one where it broke off. */

import type { EventWriter } from '../events.ts'
import { toEvent } from '../events.ts'

/** How long a client can still resume a stream that has ended. */
export const resumeMs: number = 10 * 60_000

/**
 * A stream that outlives its connection: past events are kept, up to a limit, and can be sent again from any event on.
 */
export interface ReplayStream {
  readonly id: string
  write(data: string): void
  /** Ends the stream: no more events will come. */
  close(): void
  /** Closes the connection, not the stream. The client is told when to reconnect. */
  detach(): void
  /** Closes the connection because the client now listens on another one. */
  release(): unknown
  /** Forgets the events sent so far, so that the stream can no longer be resumed from them. */
  forget(): void
  /** Whether all events after this one are still kept. */
  canReplayFrom(after: number): boolean
  /** Continues on this writer, after the event that the client received last. */
  attach(writer: EventWriter, after?: number): void
  readonly closed: boolean
  readonly size: number
  /** Whether the reader of the current writer is behind. */
  readonly behind?: boolean
}

/**
 * Keeps the events of a stream for other processes too. An event is kept before it is sent, so that a client can resume
 * from any event it has received. `send` returns whether a client is connected here.
 */
export interface StreamLog {
  write(number: number, data: string, send: () => boolean): void
  forget(number: number): void
  close(send: () => boolean): void
  /** Calls `then` when everything so far has been kept and sent. */
  afterWrites(then: () => void): void
  deleteAll(): void
}

/** Keeps nothing for other processes. */
const noLog: StreamLog = {
  write: (_number, _data, send) => send(),
  forget() {},
  close: (send) => send(),
  afterWrites: (then) => then(),
  deleteAll() {},
}

/** Tells the client to reconnect after 1,000 milliseconds. */
export const retryField: string = 'retry: 1000\n\n'

/**
 * If `primed`, the first event only carries an id, so that a client can resume before any message was sent
 * (2025-11-25).
 */
export function createReplayStream(
  id: string,
  primed: boolean,
  maxSize: number,
  log: StreamLog = noLog,
  resized: (by: number) => void = () => {},
): ReplayStream {
  let events: { readonly number: number; readonly data: string }[] = []
  let sent = 0
  let size = 0
  /** The last event that is no longer kept. */
  let forgotten = 0
  let writer: EventWriter | undefined
  let isClosed = false
  /** The last event that went to this writer. */
  let lastSent = 0
  const send = (number: number, data: string): boolean => {
    if (!writer || writer.closed) return false
    if (number > lastSent) writer.write(toEvent(data, `${id}.${number}`))
    lastSent = Math.max(lastSent, number)
    return true
  }
  const release = (): boolean => {
    const wasOpen = writer !== undefined && !writer.closed
    writer?.close()
    writer = undefined
    return wasOpen
  }
  const detach = (): void => {
    writer?.write(retryField)
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
      log.write(number, data, () => send(number, data))
      let total = size + data.length
      let last = forgotten
      for (const event of events) {
        if (total <= maxSize || event.number === number) break
        total -= event.data.length
        last = event.number
        log.forget(last)
      }
      resize(size + data.length)
      forgetUpTo(last)
    },
    close() {
      if (isClosed) return
      isClosed = true
      log.close(release)
    },
    detach: () => log.afterWrites(detach),
    release,
    forget() {
      forgetUpTo(sent)
      log.deleteAll()
    },
    canReplayFrom: (after) => after >= forgotten && after <= sent,
    attach(next, after) {
      // The client listens on its newest connection; an older one is most likely dead.
      writer?.close()
      writer = next
      lastSent = after ?? 0
      if (after === undefined && primed) next.write(`id: ${id}.0\ndata: \n\n`)
      if (after !== undefined) for (const { number, data } of events) send(number, data)
      if (after !== undefined) forgetUpTo(Math.min(after, sent))
      if (isClosed) next.close()
    },
    get closed() {
      return isClosed
    },
    get size() {
      return size
    },
    get behind() {
      return writer?.behind ?? false
    },
  }
}

/** Splits an event id into its stream and number. `undefined` if the text is not an event id. */
export function parseEventId(text: string): { stream: string; after: string } | undefined {
  const dot = text.lastIndexOf('.')
  const after = text.slice(dot + 1)
  return dot > 0 && /^\d{1,16}$/.test(after) ? { stream: text.slice(0, dot), after } : undefined
}
