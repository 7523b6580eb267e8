/** JSON of unknown content, and the envelope of 2026-07-28 for requests that the command writes itself. */

export interface Params {
  readonly [name: string]: unknown
}

export const isObject = (value: unknown): value is Params =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The newest protocol revision. */
export const modern = '2026-07-28'

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
