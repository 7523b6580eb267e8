/** The refusals of a request whose body cannot be read. `fetch.ts` has its own, because a worker is counted by the byte. */

import { RpcError } from '../../core/error.ts'

export const bodyTooLarge = (maxBytes: number): RpcError =>
  new RpcError('payloadTooLarge', `The body is larger than ${maxBytes} bytes`, { data: { maxBytes } })

export const bodyNotUtf8 = (cause?: unknown): RpcError =>
  new RpcError('parseError', 'Parse error: the body is not UTF-8', { cause })

export const closedByClient = (cause?: unknown): RpcError =>
  new RpcError('cancelled', 'The client closed the connection', { cause })
