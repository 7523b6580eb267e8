/** One HTTP request and its response, without knowing which HTTP it is: what the adapters implement. */

import type { Via } from '../../core/call.ts'
import type { RpcError } from '../../core/error.ts'
import type { Stop } from '../../core/stop.ts'
import type { EventWriter } from './events.ts'

/** It is also what the message came by: no second object is made to say so. */
export interface HttpRequest extends Via {
  readonly transport: 'http'
  readonly method: string
  /** The path and the query, as the client asked for them. */
  readonly url: string
  /** The Host header; `undefined` if it is missing or came twice. */
  readonly host: string | undefined
  /** The port it arrived on, where that is known. */
  readonly port: number | undefined
  /**
   * The whole body as text. Rejects with `payloadTooLarge`, with `parseError` if it is not UTF-8, with `cancelled` if the
   * client left, and with what `tooLate` returns if it waited too long for its turn.
   */
  body(maxBytes: number, tooLate?: () => RpcError): Promise<string>
  /** Calls `then` once the client's connection is closed, at once if it is; the returned function forgets it. */
  onClose(then: () => void): () => void
}

export type HttpHeaders = { readonly [name: string]: string }

/** The one response. Either `send`, or `stream` and then its writer's `close`. */
export interface HttpReply {
  send(status: number, headers: HttpHeaders, body?: string): void
  /** `over` is called once nobody is at the other end any more, whoever ended it. */
  stream(headers: HttpHeaders, over: () => void): EventWriter
  /** Stops the call if the client goes before the response is complete. */
  stopOnClose(stop: Stop): void
}

export const noHeaders: HttpHeaders = {}
export const jsonHeaders: HttpHeaders = { 'content-type': 'application/json' }
