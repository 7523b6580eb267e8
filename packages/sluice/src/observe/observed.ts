/** What there is to say about one message once it is over: made once by the observe layer, read by every sink. */

import type { Call } from '../core/call.ts'
import type { Reason } from '../core/error.ts'
import { isObject } from '../core/json.ts'
import { metaKeys } from '../protocol/revisions.ts'

/** How it ended, from a finite set: safe as a metric label. */
export type Outcome = 'complete' | 'input_required' | 'toolError' | Reason

export interface Observed {
  /** As it arrived. What the layers found out about it (who, for whom, which trace) is in `call.facts`. */
  readonly call: Call
  readonly outcome: Outcome
  /** Refused, crashed, or a result that says `isError`. */
  readonly failed: boolean
  /** Milliseconds since the epoch. */
  readonly receivedAt: number
  readonly durationMs: number
  /** What was thrown, for `messageOf` and `bugLineOf`: its text may repeat what the caller sent, so no sink prints it. */
  readonly thrown: unknown
}

/** Returns at once. One that throws is ignored: telling of an answer must not change it. */
export type Sink = (event: Observed) => void

/** Who, as far as it was found out: layers further in work on copies, so they leave it in the facts. */
export const callerOf = ({ facts, caller }: Call): string => String(facts['caller'] ?? caller.subject)
export const tenantOf = ({ facts, tenant }: Call): string => String(facts['tenant'] ?? tenant.id)

export interface Client {
  readonly name: string | undefined
  readonly version: string | undefined
}

/** What the client calls itself: in each request's `_meta`, in `initialize`, or as agreed on by the connection. */
export function clientOf({ meta, method, params, via }: Call): Client {
  const info =
    meta[metaKeys.client] ?? (method === 'initialize' ? params['clientInfo'] : via.connection?.agreed?.client)
  return isObject(info) ? { name: shown(info['name']), version: shown(info['version']) } : nobody
}

const nobody: Client = { name: undefined, version: undefined }
/** Cut, since anybody can send it. */
const longest = 64
const shown = (text: unknown): string | undefined =>
  typeof text !== 'string' ? undefined : text.length <= longest ? text : text.slice(0, longest).toWellFormed()
