/**
 * Carries messages to one server and back. Two kinds: a channel (stdio, WebSocket, HTTP+SSE, in process), where all
 * messages share one stream, and Streamable HTTP, where each request has a response stream for itself.
 */

import type { Id } from '../core/json.ts'
import type { ClientError } from './errors.ts'
import type { Message } from './message.ts'

/** Receives the reports of a transport. */
export interface Receiver {
  /**
   * Takes one message. `request` is the id of the request whose response stream carried it, if there is one; `status`
   * is the HTTP status of a response that refused the request.
   */
  message(message: Message, request?: Id, status?: number): void
  /** The transport ended by itself. All requests in flight fail with this error. */
  closed(error: ClientError): void
  /**
   * Something was ignored that a person may want to know: text that is not JSON, an unknown id. `text` is the frame, if
   * it is not a message.
   */
  ignored(problem: string, text?: string): void
  /** The server refused to open the standalone stream again, as it does after it lost the session. */
  streamEnded?(): void
}

/** Carries messages to one server and back. */
export interface Transport {
  /** Names the server: its address or its command. Remembered eras are filed under it. */
  readonly server: string
  /** Whether requests repeat parts of themselves in HTTP headers, as 2026-07-28 asks on Streamable HTTP. */
  readonly mirrorsHeaders: boolean
  /** Opens it. A transport that was closed can be opened again. */
  open(receiver: Receiver): Promise<void>
  /**
   * Sends one message. On a channel it resolves when the message was written. Over HTTP it resolves when the response
   * stream has ended, and rejects if no response will come.
   */
  send(message: Message, headers?: { readonly [name: string]: string }): Promise<void>
  /** Ends the response stream of a request. Only Streamable HTTP has it; its closing is the cancellation there. */
  abort?(request: Id): void
  /** Called when a revision was agreed on, or with `undefined` before the era is probed again. */
  agreed(revision: string | undefined): void
  /** Opens the standalone stream of a legacy session, for messages that belong to no request. */
  listen?(): void
  /** Closes it and everything it opened: streams, timers, processes. */
  close(): Promise<void>
}
