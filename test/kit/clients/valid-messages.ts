/** Messages of a well-behaved client, from which the attacks are made. */

import type { Params } from 'sluice'

export const modern = '2026-07-28'

export const envelope: Params = {
  'io.modelcontextprotocol/protocolVersion': modern,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'attacker', version: '1' },
}

export type Id = string | number

export const request = (id: Id, method: string, params: Params = {}): Params => ({ jsonrpc: '2.0', id, method, params })

/** The same for 2026-07-28: a request carries everything it needs. */
export const modernRequest = (id: Id, method: string, params: Params = {}): Params =>
  request(id, method, { ...params, _meta: { ...envelope, ...(params['_meta'] as Params | undefined) } })

export const callOf = (id: Id, name: string, args: Params = {}): Params =>
  modernRequest(id, 'tools/call', { name, arguments: args })

export const initialize = (protocolVersion = '2025-11-25', id: Id = 'init'): Params =>
  request(id, 'initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'attacker', version: '1' } })

/** Returns the headers that 2026-07-28 requires beside a request. */
export function headersFor(message: Params): { readonly [name: string]: string } {
  const { method, params } = message as { readonly method: string; readonly params?: Params }
  const name = params?.[method === 'resources/read' ? 'uri' : 'name']
  return {
    'mcp-protocol-version': modern,
    'mcp-method': method,
    ...(typeof name === 'string' &&
      /^(tools\/call|prompts\/get|resources\/read)$/.test(method) && { 'mcp-name': name }),
  }
}
