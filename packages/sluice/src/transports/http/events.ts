/**
 * Server-sent events, and the memory that lets a client of a legacy session pick up a stream where it broke off.
 *
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 */

/** Where bytes of a stream go. Writing to one that ended does nothing. */
export interface Sink {
  write(text: string): void
  end(): void
  readonly closed: boolean
  /** Whether its reader is so far behind that logs and progress are dropped; left out where that is not known. */
  readonly behind?: boolean
}

export const eventHeaders: { readonly [name: string]: string } = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  // Proxies that collect answers before passing them on would hold back every notification.
  'x-accel-buffering': 'no',
}

/** JSON has no line breaks, so one `data` line holds it. */
export const toEvent = (data: string, id?: string): string =>
  id === undefined ? `event: message\ndata: ${data}\n\n` : `id: ${id}\nevent: message\ndata: ${data}\n\n`

/** How long a client may take to come back to a stream that has ended. */
export const resumeMs: number = 10 * 60_000

/** A stream that outlives its connection: what was sent is kept, up to a limit, and can be sent again from any event on. */
export interface Resumable {
  readonly id: string
  write(data: string): void
  /** No more will come. */
  finish(): void
  /** Ends the connection, not the stream: the client is told when to come back. */
  detach(): void
  /** Its client is on another connection now, and listens there. */
  letGo(): unknown
  /** Forgets what was sent: it cannot be resumed from there any more. */
  forget(): void
  /** Whether all events after this one are still known. */
  knows(after: number): boolean
  /** Goes on to this sink, after the event that was received last. */
  attach(sink: Sink, after?: number): void
  readonly finished: boolean
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
  finish(say: () => boolean): void
  /** When everything so far has been said. */
  after(then: () => void): void
  /** Forgets it all. */
  drop(): void
}

/** In milliseconds. */
const comeBack = 'retry: 1000\n\n'

/** `primed`: the first event only carries an id, so that a client can resume before anything was said (2025-11-25). */
export function createResumable(
  id: string,
  primed: boolean,
  maxSize: number,
  log?: StreamLog,
  resized: (by: number) => void = () => {},
): Resumable {
  let events: { readonly number: number; readonly data: string }[] = []
  let sent = 0
  let size = 0
  /** The last event that is no longer known. */
  let forgotten = 0
  let sink: Sink | undefined
  let finished = false
  /** The last event that went to this sink. */
  let told = 0
  const say = (number: number, data: string): boolean => {
    if (!sink || sink.closed) return false
    if (number > told) sink.write(toEvent(data, `${id}.${number}`))
    told = Math.max(told, number)
    return true
  }
  const letGo = (): boolean => {
    const heard = sink !== undefined && !sink.closed
    sink?.end()
    sink = undefined
    return heard
  }
  const detach = (): void => {
    sink?.write(comeBack)
    letGo()
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
    finish() {
      if (finished) return
      finished = true
      if (log) log.finish(letGo)
      else letGo()
    },
    detach() {
      if (log) log.after(detach)
      else detach()
    },
    letGo,
    forget() {
      forgetUpTo(sent)
      log?.drop()
    },
    knows: (after) => after >= forgotten && after <= sent,
    attach(next, after) {
      // The newest connection is the one the client listens on; an older one is most likely dead.
      sink?.end()
      sink = next
      told = after ?? 0
      if (after === undefined && primed) next.write(`id: ${id}.0\ndata: \n\n`)
      if (after !== undefined) for (const { number, data } of events) say(number, data)
      if (after !== undefined) forgetUpTo(Math.min(after, sent))
      if (finished) next.end()
    },
    get finished() {
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

/** How a standing stream hears what there is to say, from now on or from after a position; ended by what it returns. */
export type Listen = (say: (data: string, position: string) => void, after?: string) => () => void

/**
 * The stream for what belongs to no call. It keeps nothing: what was said is in the server's log of events. A class,
 * because every session has one.
 */
export class Standing {
  readonly id: string
  readonly #listen: Listen
  #sink: Sink | undefined = undefined
  #silence: (() => void) | undefined = undefined
  constructor(id: string, listen: Listen) {
    this.id = id
    this.#listen = listen
  }
  get attached(): boolean {
    return this.#sink !== undefined && !this.#sink.closed
  }
  get behind(): boolean {
    return this.#sink?.behind ?? false
  }
  /** From now on, or from after a position. */
  attach(sink: Sink, after?: string): void {
    this.letGo()
    this.#sink = sink
    this.#silence = this.#listen((data, position) => sink.write(toEvent(data, `${this.id}.${position}`)), after)
  }
  /** Said once, and not again to who comes back. */
  write(data: string): void {
    this.#sink?.write(toEvent(data))
  }
  /** Nobody is at the other end of this one any more. */
  left(sink: Sink): void {
    if (this.#sink === sink) this.letGo()
  }
  letGo(): void {
    this.#silence?.()
    this.#sink?.end()
    this.#silence = undefined
    this.#sink = undefined
  }
  /** Its client is told when to come back. */
  detach(): void {
    this.#sink?.write(comeBack)
    this.letGo()
  }
}

/** An event id back into its stream and number. */
export function parseEventId(text: string): { stream: string; after: string } | undefined {
  const dot = text.lastIndexOf('.')
  const after = text.slice(dot + 1)
  return dot > 0 && /^\d{1,16}$/.test(after) ? { stream: text.slice(0, dot), after } : undefined
}
