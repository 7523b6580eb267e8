/** The standalone stream of a session: a GET stream for messages that belong to no call. */

import type { EventWriter } from '../events.ts'
import { toEvent } from '../events.ts'
import { retryField } from './replay-stream.ts'

/**
 * Subscribes to the events of a session, from now on or from after a position. Returns a function that unsubscribes.
 */
export type SubscribeEvents = (send: (data: string, position: string) => void, after?: string) => () => void

/**
 * The stream for messages that belong to no call. It keeps no events, because the server's event log does. It is a
 * class because every session has one, and a class costs less memory than closures.
 */
export class StandaloneStream {
  readonly id: string
  readonly #subscribe: SubscribeEvents
  #writer: EventWriter | undefined = undefined
  #unsubscribe: (() => void) | undefined = undefined
  constructor(id: string, subscribe: SubscribeEvents) {
    this.id = id
    this.#subscribe = subscribe
  }
  get attached(): boolean {
    return this.#writer !== undefined && !this.#writer.closed
  }
  get behind(): boolean {
    return this.#writer?.behind ?? false
  }
  /** Sends events to this writer, from now on or from after a position. */
  attach(writer: EventWriter, after?: string): void {
    this.release()
    this.#writer = writer
    this.#unsubscribe = this.#subscribe(
      (data, position) => writer.write(toEvent(data, `${this.id}.${position}`)),
      after,
    )
  }
  /** Sends a message once. It is not repeated for a client that reconnects. */
  write(data: string): void {
    this.#writer?.write(toEvent(data))
  }
  writerClosed(writer: EventWriter): void {
    if (this.#writer === writer) this.release()
  }
  release(): void {
    this.#unsubscribe?.()
    this.#writer?.close()
    this.#unsubscribe = undefined
    this.#writer = undefined
  }
  /** Closes the connection. The client is told when to reconnect. */
  detach(): void {
    this.#writer?.write(retryField)
    this.release()
  }
}
