/** The caller, tenant and client of an observed call. */

import type { Call } from '../core/call.ts'
import { isObject } from '../core/json.ts'
import { metaKeys } from '../protocol/revisions.ts'

/** Returns the caller, if it is known. Inner layers work on copies of the call, so they report it in the facts. */
export const callerOf = ({ facts, caller }: Call): string => String(facts['caller'] ?? caller.subject)
export const tenantOf = ({ facts, tenant }: Call): string => String(facts['tenant'] ?? tenant.id)

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
