/**
 * The store key of a call's record. It is the client's idempotency key or the ticket that an outer layer spent,
 * separate for each tenant and caller.
 *
 * https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/
 */

import type { Call, Layer } from '../core/call.ts'
import { anonymous } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import { recordKey } from '../core/idempotency-record.ts'
import type { Key } from '../core/store.ts'

const header = 'idempotency-key'
const metaKey = 'dev.sluice/idempotencyKey'

/** Visible ASCII without `"` and `\`. No space, so that two headers joined by a proxy are not taken for one key. */
const validKey = /^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/

/** 128 bits in base64url; a UUID has 36. */
const minUnguessableLength = 22

/** Returns whether the call has a key. It is cheap, because every tool call passes it and most have none. */
export const hasIdempotencyKey = ({ ticketId: key, meta, via }: Call): boolean =>
  key !== undefined || meta[metaKey] !== undefined || headerOf(via) !== undefined

/**
 * Refuses keys on a server without idempotency. A client that sends a key relies on it, so the work must not run as if
 * there were none.
 */
export const refuseIdempotencyKeys: Layer = (next) =>
  function refuseIdempotencyKeys(call) {
    if (call.target.kind !== 'tool' || !hasIdempotencyKey(call)) return next(call)
    throw invalidKey('not supported here, and nothing ran; call without one')
  }

/** Returns the header of an HTTP request. A socket's headers belong to all its messages, so they do not count. */
const headerOf = (via: Call['via']): string | undefined => (via.transport === 'http' ? via.header(header) : undefined)

/** Returns the store key. A ticket wins, because its work is spent with it whatever key the client sends. */
export const recordKeyOf = (call: Call): Key =>
  recordKey(
    call.tenant.id,
    call.caller.subject,
    call.ticketId === undefined ? { client: clientKey(call) } : { ticket: call.ticketId },
  )

function clientKey({ meta, via, caller }: Call): string {
  const fromMeta = meta[metaKey]
  const fromHeader = unquoted(headerOf(via))
  if (fromMeta !== undefined && fromHeader !== undefined && fromMeta !== fromHeader)
    throw invalidKey('the header and _meta differ; send one of them')
  const key = fromMeta ?? fromHeader
  if (typeof key !== 'string' || !validKey.test(key))
    throw invalidKey('use 1 to 255 visible ASCII characters, without spaces, quotes and backslashes')
  // The caller is not authenticated, so only the key keeps one stranger's result from the next.
  const isAnonymousPeer =
    caller.credential === anonymous.credential && (via.transport === 'http' || via.transport === 'websocket')
  if (isAnonymousPeer && key.length < minUnguessableLength)
    throw invalidKey(
      `without authentication it must be hard to guess; use at least ${minUnguessableLength} characters, such as a UUID`,
    )
  return key
}

/** Removes quotes. The draft has a quoted string and many clients send it bare; both are the same key. */
const unquoted = (value: string | undefined): string | undefined =>
  value !== undefined && value.length > 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value

const invalidKey = (problem: string): RpcError => new RpcError('invalidParams', `Invalid idempotency key: ${problem}`)
