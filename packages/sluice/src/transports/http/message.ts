/** One HTTP request and its response, independent of the HTTP implementation. The adapters implement these types. */

import type { Via } from '../../core/call.ts'
import type { RpcError } from '../../core/error.ts'
import type { Stop } from '../../core/stop.ts'
import type { EventWriter } from './events.ts'

/** The request, which is also the `Via` of its message, so that no second object is made. */
export interface HttpRequest extends Via {
  readonly transport: 'http'
  readonly method: string
  /** The path and the query, as the client sent them. */
  readonly url: string
  /** The Host header. `undefined` if it is missing or was sent twice. */
  readonly host: string | undefined
  /** The local port of the connection. `undefined` if it is not known. */
  readonly port: number | undefined
  /**
   * Reads the whole body as text. Rejects with `payloadTooLarge`, with `parseError` if it is not UTF-8, and with
   * `cancelled` if the client disconnected. Rejects with the error of `tooLate` if it waited too long for its turn.
   */
  body(maxBytes: number, tooLate?: () => RpcError): Promise<string>
  /**
   * Calls `then` when the client's connection closes, or at once if it is closed. Returns a function that unsubscribes.
   */
  onClose(then: () => void): () => void
}

export type HttpHeaders = { readonly [name: string]: string }

/** The response. Either `send` is called, or `stream` and then its writer's `close`. */
export interface HttpReply {
  send(status: number, headers: HttpHeaders, body?: string): void
  /** Opens a stream. `onClosed` is called when it is closed, by either side. */
  stream(headers: HttpHeaders, onClosed: () => void): EventWriter
  /** Stops the call if the client disconnects before the response is complete. */
  stopOnClose(stop: Stop): void
}

export const noHeaders: HttpHeaders = {}
export const jsonHeaders: HttpHeaders = { 'content-type': 'application/json' }
