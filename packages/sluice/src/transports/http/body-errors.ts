/** The refusals of a request whose body cannot be read, the same on every path of Node. */

import { RpcError } from '../../core/error.ts'

export const bodyTooLarge = (maxBytes: number): RpcError =>
  new RpcError('payloadTooLarge', `The body is larger than ${maxBytes} bytes`, { data: { maxBytes } })

export const bodyNotUtf8 = (cause?: unknown): RpcError =>
  new RpcError('parseError', 'Parse error: the body is not UTF-8', { cause })

export const closedByClient = (cause?: unknown): RpcError =>
  new RpcError('cancelled', 'The client closed the connection', { cause })
