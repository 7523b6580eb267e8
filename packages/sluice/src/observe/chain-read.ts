/** Reading a chain: newest first, a page at a time, for people who look for something; or all of it, in order. */

import type { Params } from '../core/json.ts'
import type { Key, Store } from '../core/store.ts'
import { auditRows, headKey, headsPrefix, parseLine, parsePosition, rowKey, rowsPrefix } from './chain-layout.ts'
import { readCheckpoint } from './checkpoint.ts'

/** One record of the audit, with its place in the chain. */
export interface AuditEntry {
  readonly seq: number
  readonly hash: string
  /** As it was recorded; empty for a line that cannot be read, which the verifier names. */
  readonly record: Params
}

/** A page of the audit. */
export interface AuditPage {
  /** Newest first. */
  readonly entries: readonly AuditEntry[]
  /** Where the next page ends; `undefined` at the beginning of the chain, or of what was not pruned. */
  readonly before: number | undefined
}

/** More than a row ever holds: the row with the first wanted record may begin so much earlier. */
const maxRowRecords = 256

/** The records with numbers below `before`, at most `limit` of them. */
export async function readAudit(
  store: Store,
  tenant: string,
  { before, limit }: { readonly before?: number | undefined; readonly limit: number },
): Promise<AuditPage> {
  const head = parsePosition(await store.get(headKey(tenant))).seq
  const end = before ?? Number.POSITIVE_INFINITY
  const first = ((await readCheckpoint(store, tenant))?.seq ?? 0) + 1
  const from = Math.max(first, Math.min(end - 1, head) - limit + 1)
  const place = rowKey(tenant, Math.max(0, from - maxRowRecords))
  const rows = await store.list(rowsPrefix(tenant), { limit: limit + 2 * maxRowRecords, after: place })
  const entries: AuditEntry[] = []
  for (const { value } of rows)
    for (const entry of entriesOf(value)) if (entry.seq >= from && entry.seq < end) entries.push(entry)
  return { entries: entries.reverse(), before: from > first ? from : undefined }
}

/** All of it that was not pruned, oldest first. */
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

/** Whose calls were recorded. */
export async function auditTenants(store: Store): Promise<readonly string[]> {
  const found: string[] = []
  for (let after: Key | undefined; found.length < maxTenants; ) {
    const page = await store.list(headsPrefix, after ? { limit: tenantsPerPage, after } : { limit: tenantsPerPage })
    for (const { key } of page) found.push(key.at(-1) ?? '')
    after = page.at(-1)?.key
    if (page.length < tenantsPerPage) break
  }
  return found
}
