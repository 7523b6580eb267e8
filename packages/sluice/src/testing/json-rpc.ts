/** Assertions on the answer of `handle`. They narrow the type, and their messages show the actual response. */

import type { Id } from '../core/json.ts'
import { isObject } from '../core/json.ts'

export interface JsonRpcSuccess {
  readonly jsonrpc: '2.0'
  readonly id: Id
  // biome-ignore lint/suspicious/noExplicitAny: a result has as many types as there are methods, and a test names none.
  readonly result: any
}
export interface JsonRpcFailure {
  readonly jsonrpc: '2.0'
  readonly id?: Id
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** Throws if the response is not a JSON-RPC 2.0 response with an id and a result, and without an error. */
export function assertJsonRpcSuccess(response: unknown): asserts response is JsonRpcSuccess {
  const checked = envelope(response)
  if ('error' in checked) throw new Error(`Expected a result, got the error ${JSON.stringify(checked['error'])}`)
  if (!('result' in checked) || checked['id'] === undefined)
    throw new Error(`Expected an id and a result, got ${JSON.stringify(response)}`)
}

/**
 * Throws if the response is not a JSON-RPC 2.0 response with an error that has a code and a message, and without a
 * result.
 */
export function assertJsonRpcError(response: unknown): asserts response is JsonRpcFailure {
  const checked = envelope(response)
  if ('result' in checked) throw new Error(`Expected an error, got the result ${JSON.stringify(checked['result'])}`)
  const { error } = checked
  if (!isObject(error) || !Number.isInteger(error['code']) || typeof error['message'] !== 'string')
    throw new Error(`Expected an error with a code and a message, got ${JSON.stringify(response)}`)
}

function envelope(response: unknown): { readonly [name: string]: unknown } {
  if (!isObject(response) || response['jsonrpc'] !== '2.0')
    throw new Error(`Expected a JSON-RPC 2.0 response, got ${JSON.stringify(response)}`)
  return response
}
