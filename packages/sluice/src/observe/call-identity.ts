/** Who and whose an observed call was. */

import type { Call } from '../core/call.ts'
import { isObject } from '../core/json.ts'
import { metaKeys } from '../protocol/revisions.ts'

/** Who, as far as it was found out: layers further in work on copies, so they leave it in the facts. */
export const callerOf = ({ facts, caller }: Call): string => String(facts['caller'] ?? caller.subject)
export const tenantOf = ({ facts, tenant }: Call): string => String(facts['tenant'] ?? tenant.id)

/** What a client calls itself. Nobody vouches for it. */
export interface ClientInfo {
  readonly name: string | undefined
  readonly version: string | undefined
}

/** What the client calls itself: in each request's `_meta`, in `initialize`, or as agreed on by the connection. */
export function clientOf({ meta, method, params, via }: Call): ClientInfo {
  const info =
    meta[metaKeys.client] ?? (method === 'initialize' ? params['clientInfo'] : via.connection?.state.agreed?.client)
  return isObject(info) ? { name: truncated(info['name']), version: truncated(info['version']) } : unknownClient
}

const unknownClient: ClientInfo = { name: undefined, version: undefined }
/** Cut, since anybody can send it. */
const maxLength = 64
const truncated = (text: unknown): string | undefined =>
  typeof text !== 'string' ? undefined : text.length <= maxLength ? text : text.slice(0, maxLength).toWellFormed()
