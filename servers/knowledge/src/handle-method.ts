/**
 * One function over one knowledge base, for programs that bring their own transport. It takes a message and returns its
 * answer, and needs nothing of Node.
 */

import { createServer } from 'sluice/node'
import { customLayer } from 'sluice/plugins'
import { asdlc } from './asdlc.ts'
import { flatInfo, knowledge } from './definition.ts'

export interface JsonRpcRequest {
  readonly jsonrpc: '2.0'
  readonly id?: string | number
  readonly method: string
  readonly params?: { readonly [name: string]: unknown }
}
export interface JsonRpcResponse {
  readonly jsonrpc: '2.0'
  readonly id: string | number
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows the result type of the method.
  readonly result?: any
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

const definition = knowledge(asdlc)
const server = createServer(definition, { use: [customLayer(flatInfo(definition))] })

/** Returns `null` if the message must not be answered. Never rejects. */
export const handleMethod = async (request: JsonRpcRequest): Promise<JsonRpcResponse | null> =>
  (await server.handle(request)) as JsonRpcResponse | null
