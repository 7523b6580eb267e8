/** What is kept of a legacy session between messages, as the text that all processes share. */

import type { Connection } from '../../core/connection.ts'
import { RpcError } from '../../core/error.ts'

interface SessionRecord {
  readonly agreed: Connection['agreed']
  readonly logLevel: string
  readonly tenant: string | undefined
  readonly owner: string | undefined
  readonly subscriptions: readonly string[]
}

/** A client says what it can do and subscribes to resources; it must not fill the store with it. */
const maxRecord = 256 * 1024

export function toRecord({ agreed, logLevel, tenant, owner, subscriptions }: Connection): string {
  const record: SessionRecord = { agreed, logLevel, tenant, owner, subscriptions: [...subscriptions] }
  return bounded(JSON.stringify(record))
}

export function applyRecord(text: string, connection: Connection): void {
  const { agreed, logLevel, tenant, owner, subscriptions } = parse(text)
  Object.assign(connection, { agreed, logLevel, tenant, owner })
  connection.subscriptions.clear()
  for (const uri of subscriptions) connection.subscriptions.add(uri)
}

export const ownerOf = (text: string): string | undefined => parse(text).owner

export const withOwner = (text: string, owner: string): string => bounded(JSON.stringify({ ...parse(text), owner }))

/** What changed here since it was read, put onto what others have made of it meanwhile. */
export function mergeRecord(before: string, mine: string, theirs: string): string {
  if (before === theirs) return mine
  const [was, is, now] = [parse(before), parse(mine), parse(theirs)]
  const gone = new Set(was.subscriptions.filter((uri) => !is.subscriptions.includes(uri)))
  const come = is.subscriptions.filter((uri) => !was.subscriptions.includes(uri))
  const kept = now.subscriptions.filter((uri) => !gone.has(uri))
  const merged: SessionRecord = {
    agreed: now.agreed,
    logLevel: is.logLevel === was.logLevel ? now.logLevel : is.logLevel,
    tenant: is.tenant === was.tenant ? now.tenant : is.tenant,
    // Only ever set by `withOwner`, where nobody else was first.
    owner: now.owner,
    subscriptions: [...new Set([...kept, ...come])],
  }
  return bounded(JSON.stringify(merged))
}

/** Ours, from our own store: no client can write there. */
const parse = (text: string): SessionRecord => JSON.parse(text)

function bounded(text: string): string {
  if (text.length > maxRecord)
    throw new RpcError('payloadTooLarge', 'Too much to remember for one session: subscribe to less')
  return text
}
