/** Assertions on what `handle` answered: they narrow the type, and say what came instead. */

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

/** Throws unless the response is JSON-RPC 2.0, has an id and a result, and no error. */
export function assertJsonRpcSuccess(response: unknown): asserts response is JsonRpcSuccess {
  const said = envelope(response)
  if ('error' in said) throw new Error(`Expected a result, got the error ${JSON.stringify(said['error'])}`)
  if (!('result' in said) || said['id'] === undefined)
    throw new Error(`Expected an id and a result, got ${JSON.stringify(response)}`)
}

/** Throws unless the response is JSON-RPC 2.0 and has an error with a code and a message, and no result. */
export function assertJsonRpcError(response: unknown): asserts response is JsonRpcFailure {
  const said = envelope(response)
  if ('result' in said) throw new Error(`Expected an error, got the result ${JSON.stringify(said['result'])}`)
  const { error } = said
  if (!isObject(error) || !Number.isInteger(error['code']) || typeof error['message'] !== 'string')
    throw new Error(`Expected an error with a code and a message, got ${JSON.stringify(response)}`)
}

function envelope(response: unknown): { readonly [name: string]: unknown } {
  if (!isObject(response) || response['jsonrpc'] !== '2.0')
    throw new Error(`Expected a JSON-RPC 2.0 response, got ${JSON.stringify(response)}`)
  return response
}
