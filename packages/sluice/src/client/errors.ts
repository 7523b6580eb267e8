/**
 * How a request can fail: the server answered with an error, or no usable answer came. A caller that repeats requests
 * must know whether the first one may have run, so the second kind says so.
 */

import type { Params } from '../core/json.ts'

/** The server answered with a JSON-RPC error. */
export class ServerError extends Error {
  override readonly name = 'ServerError'
  /** The JSON-RPC error code. */
  readonly code: number
  /** The `data` of the error, exactly as it was sent. */
  readonly data: unknown
  /** The HTTP status of the response, if it refused the request (400 or above). */
  readonly status: number | undefined
  constructor(code: number, message: string, data?: unknown, status?: number) {
    super(message)
    this.code = code
    this.data = data
    this.status = status
  }
}

/** Codes of errors that mean more to a client than their text. */
export const errorCodes = {
  methodNotFound: -32601,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
  urlRequired: -32042,
} as const

/** Why no usable answer came. */
export type ClientErrorReason =
  | 'unreachable'
  | 'closed'
  | 'timeout'
  | 'cancelled'
  | 'protocol'
  | 'tooLarge'
  | 'overloaded'
  | 'status'
  | 'unauthorized'
  | 'refusedAddress'
  | 'session'
  | 'unsupported'

export interface ClientErrorDetails {
  /** `false` if the request certainly did not reach the server's code, so that it can be repeated safely. */
  readonly mayHaveRun?: boolean
  /** The HTTP status, if there was one. */
  readonly status?: number
  /** The `WWW-Authenticate` header of a refusal. */
  readonly challenge?: string | undefined
  /** The reference in a refusal, by which the server’s operator finds it in the log. */
  readonly reference?: string | undefined
  readonly cause?: unknown
}

/** No usable answer came: the transport failed, time ran out, or the answer broke the protocol. */
export class ClientError extends Error {
  override readonly name = 'ClientError'
  readonly reason: ClientErrorReason
  /** Whether the server may have acted on the request. `true` if it is not known. */
  readonly mayHaveRun: boolean
  readonly status: number | undefined
  readonly challenge: string | undefined
  readonly reference: string | undefined
  constructor(reason: ClientErrorReason, message: string, details: ClientErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.reason = reason
    this.mayHaveRun = details.mayHaveRun ?? true
    this.status = details.status
    this.challenge = details.challenge
    this.reference = details.reference
  }
}

/** Returns the error of a response as a `ServerError`. A malformed one is still an error, never a result. */
export function toServerError(error: unknown, status?: number): ServerError {
  const { code, message, data } = (typeof error === 'object' && error !== null ? error : {}) as Params
  return new ServerError(
    typeof code === 'number' && Number.isInteger(code) ? code : -32603,
    typeof message === 'string' ? message : 'The server answered with a malformed error',
    data,
    status,
  )
}
