/** A session's stream for messages that belong to no call (the spec's standalone GET stream). */

import type { EventWriter } from '../events.ts'
import { toEvent } from '../events.ts'
import { retryField } from './replay-stream.ts'

/** How a standing stream hears what there is to say, from now on or from after a position; ended by what it returns. */
export type SubscribeEvents = (say: (data: string, position: string) => void, after?: string) => () => void

/**
 * The stream for what belongs to no call. It keeps nothing: what was said is in the server's log of events. A class,
 * because every session has one.
 */
export class StandaloneStream {
  readonly id: string
  readonly #subscribe: SubscribeEvents
  #writer: EventWriter | undefined = undefined
  #unsubscribe: (() => void) | undefined = undefined
  constructor(id: string, listen: SubscribeEvents) {
    this.id = id
    this.#subscribe = listen
  }
  get attached(): boolean {
    return this.#writer !== undefined && !this.#writer.closed
  }
  get behind(): boolean {
    return this.#writer?.behind ?? false
  }
  /** From now on, or from after a position. */
  attach(sink: EventWriter, after?: string): void {
    this.release()
    this.#writer = sink
    this.#unsubscribe = this.#subscribe((data, position) => sink.write(toEvent(data, `${this.id}.${position}`)), after)
  }
  /** Said once, and not again to who comes back. */
  write(data: string): void {
    this.#writer?.write(toEvent(data))
  }
  /** Nobody is at the other end of this one any more. */
  writerClosed(sink: EventWriter): void {
    if (this.#writer === sink) this.release()
  }
  release(): void {
    this.#unsubscribe?.()
    this.#writer?.close()
    this.#unsubscribe = undefined
    this.#writer = undefined
  }
  /** Its client is told when to come back. */
  detach(): void {
    this.#writer?.write(retryField)
    this.release()
  }
}
