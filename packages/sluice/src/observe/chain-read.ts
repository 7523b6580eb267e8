/** Reads a chain: a page at a time, newest first, or all of it in order. */

import type { Params } from '../core/json.ts'
import type { Store } from '../core/store.ts'
import { pagesOf } from '../core/store.ts'
import {
  auditRows,
  latestPositionKey,
  latestPositionsPrefix,
  parseLine,
  parsePosition,
  rowKey,
  rowsPrefix,
} from './chain-layout.ts'
import { readCheckpoint } from './checkpoint.ts'

/** One audit record, with its position in the chain. */
export interface AuditEntry {
  readonly seq: number
  readonly hash: string
  /** The record as it was written. Empty for an unreadable line, which the verifier names. */
  readonly record: Params
}

/** A page of the audit. */
export interface AuditPage {
  /** Newest first. */
  readonly entries: readonly AuditEntry[]
  /** The `before` of the next page; `undefined` at the start of the chain, or of what was not pruned. */
  readonly before: number | undefined
}

/** More records than a row ever holds. The row with the first wanted record may begin this much earlier. */
const maxRowRecords = 256

/** Returns at most `limit` records with numbers below `before`. */
export async function readAudit(
  store: Store,
  tenant: string,
  { before, limit }: { readonly before?: number | undefined; readonly limit: number },
): Promise<AuditPage> {
  const head = parsePosition(await store.get(latestPositionKey(tenant))).seq
  const end = before ?? Number.POSITIVE_INFINITY
  const first = ((await readCheckpoint(store, tenant))?.seq ?? 0) + 1
  const from = Math.max(first, Math.min(end - 1, head) - limit + 1)
  const after = rowKey(tenant, Math.max(0, from - maxRowRecords))
  const rows = await store.list(rowsPrefix(tenant), { limit: limit + 2 * maxRowRecords, after })
  const entries: AuditEntry[] = []
  for (const { value } of rows)
    for (const entry of entriesOf(value)) if (entry.seq >= from && entry.seq < end) entries.push(entry)
  return { entries: entries.reverse(), before: from > first ? from : undefined }
}

/** Returns all records that were not pruned, oldest first. */
export async function* readAllAudit(store: Store, tenant: string): AsyncIterable<AuditEntry> {
  const pruned = (await readCheckpoint(store, tenant))?.seq ?? 0
  for await (const [name, value] of auditRows(store, tenant)) if (!(Number(name) <= pruned)) yield* entriesOf(value)
}

function* entriesOf(row: string): Iterable<AuditEntry> {
  for (const line of row.split('\n')) {
    const { hash, record = {} } = parseLine(line)
    yield { seq: Number(record['seq'] ?? 0), hash, record }
  }
}

const tenantsPerPage = 500
const maxTenants = 10_000

/** Yields every tenant whose calls were recorded, for what must leave none out. */
export async function* eachAuditTenant(store: Store): AsyncIterable<string> {
  for await (const page of pagesOf(store, latestPositionsPrefix, tenantsPerPage))
    for (const { key } of page) yield key.at(-1) ?? ''
}

/** Returns the tenants whose calls were recorded, at most 10 000. */
export async function auditTenants(store: Store): Promise<readonly string[]> {
  const found: string[] = []
  for await (const tenant of eachAuditTenant(store)) if (found.push(tenant) >= maxTenants) break
  return found
}
