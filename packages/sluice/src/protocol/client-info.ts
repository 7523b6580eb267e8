/** The client of a call, as it names itself: for logs, the console and tickets. */

import type { Call } from '../core/call.ts'
import { isObject } from '../core/json.ts'
import { metaKeys } from './revisions.ts'

/** The client's own name and version. They are not verified. */
export interface ClientInfo {
  readonly name: string | undefined
  readonly version: string | undefined
}

/** Returns the client's own name and version: from `_meta`, from `initialize`, or from the connection. */
export function clientOf({ meta, method, params, via }: Call): ClientInfo {
  const info =
    meta[metaKeys.client] ?? (method === 'initialize' ? params['clientInfo'] : via.connection?.state.agreed?.client)
  return isObject(info) ? { name: truncated(info['name']), version: truncated(info['version']) } : unknownClient
}

const unknownClient: ClientInfo = { name: undefined, version: undefined }
/** Truncated, because any client can send it. */
const maxLength = 64
const truncated = (text: unknown): string | undefined =>
  typeof text !== 'string' ? undefined : text.length <= maxLength ? text : text.slice(0, maxLength).toWellFormed()
