/** Builds requests as the two eras write them. */

import type { Id, Params, ProtocolClientOptions, SendOptions } from './protocol.ts'

export const keys = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  client: 'io.modelcontextprotocol/clientInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscription: 'io.modelcontextprotocol/subscriptionId',
  server: 'io.modelcontextprotocol/serverInfo',
} as const

const client = { name: 'wire', version: '1.0.0' }

export const envelope = (capabilities: Params, version = '2026-07-28'): Params => ({
  [keys.version]: version,
  [keys.capabilities]: capabilities,
  [keys.client]: client,
})

/** On 2026-07-28 with the envelope that every request carries. */
export function toRequest(
  { revision, capabilities }: ProtocolClientOptions,
  method: string,
  params: Params,
  { id, meta }: SendOptions & { readonly id: Id },
): Params {
  const _meta = { ...(revision === '2026-07-28' && envelope(capabilities)), ...meta }
  return { jsonrpc: '2.0', id, method, params: { ...params, ...(Object.keys(_meta).length > 0 && { _meta }) } }
}

export const toInitialize = ({ revision, capabilities }: ProtocolClientOptions): Params => ({
  protocolVersion: revision,
  capabilities,
  clientInfo: client,
})

/** Answers a request of the server; an unsupported one is refused. */
export const toResponse = (id: unknown, result: unknown): Params =>
  result === undefined
    ? { jsonrpc: '2.0', id, error: { code: -32601, message: 'Not supported' } }
    : { jsonrpc: '2.0', id, result }
