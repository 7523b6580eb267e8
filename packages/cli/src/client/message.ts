/** The messages of our small client: JSON-RPC with the envelopes of both eras. */

export interface Params {
  readonly [name: string]: unknown
}
export interface RpcFailure {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}
export interface Message {
  readonly jsonrpc: '2.0'
  readonly id?: number | string
  readonly method?: string
  readonly params?: Params
  readonly result?: Params
  readonly error?: RpcFailure
}

/** An error response of a server. */
export class RemoteError extends Error {
  override readonly name = 'RemoteError'
  readonly failure: RpcFailure
  constructor(failure: RpcFailure) {
    super(`${failure.message} (${failure.code})`)
    this.failure = failure
  }
}

export const isObject = (value: unknown): value is Params =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const modern = '2026-07-28'
export const newestLegacy = '2025-11-25'

const prefix = 'io.modelcontextprotocol'
export const clientInfo = { name: 'sluice', version: '0.1.0' }

/** Adds the envelope of 2026-07-28: every request names the client and its capabilities. */
export const withEnvelope = (params: Params, capabilities: Params): Params => ({
  ...params,
  _meta: {
    ...(isObject(params['_meta']) && params['_meta']),
    [`${prefix}/protocolVersion`]: modern,
    [`${prefix}/clientInfo`]: clientInfo,
    [`${prefix}/clientCapabilities`]: capabilities,
  },
})
