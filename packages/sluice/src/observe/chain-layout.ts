/** The layout of a tenant's chain in the store: keys, rows, positions. */

import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { sha256 } from '../core/sha256.ts'
import type { Key, Store } from '../core/store.ts'
import { pagesOf } from '../core/store.ts'

/** A position in the chain: its last record, and the UTF-8 bytes of all rows up to it, including pruned rows. */
export interface ChainPosition {
  readonly seq: number
  readonly hash: string
  readonly bytes: number
}
export const chainStart: ChainPosition = { seq: 0, hash: '', bytes: 0 }

/** The prefix of the latest positions of all tenants' chains. */
export const latestPositionsPrefix: Key = ['audit', 'heads']
/**
 * Returns the prefix of a tenant's rows. It is not below the tenant's own prefix, because the tenant's tools can write
 * there.
 */
export const rowsPrefix = (tenant: string): Key => ['audit', 'rows', tenant]
export const latestPositionKey = (tenant: string): Key => [...latestPositionsPrefix, tenant]
const digits = 16
export const rowKey = (tenant: string, seq: number): Key => [...rowsPrefix(tenant), String(seq).padStart(digits, '0')]

export const chainHash = (previousHash: string, body: string): string => sha256(`${previousHash}\n${body}`)

const encoder = /* @__PURE__ */ new TextEncoder()
/** Returns the position after a row whose last record is this one. */
export const positionAfter = (from: ChainPosition, row: string, seq: number, hash: string): ChainPosition => ({
  seq,
  hash,
  bytes: from.bytes + encoder.encode(row).length,
})

/**
 * Returns the end of an unchecked row. An unreadable row must not end the log, so it is skipped, and the verifier names
 * it.
 */
export function rowEnd(row: string, from: ChainPosition): ChainPosition {
  const { hash, record } = parseLine(row.slice(row.lastIndexOf('\n') + 1))
  const last = record?.['seq']
  return typeof last === 'number' && last > from.seq
    ? positionAfter(from, row, last, hash)
    : positionAfter(from, row, from.seq + 1, sha256(row))
}

export const positionText = ({ seq, hash, bytes }: ChainPosition): string => `${seq} ${hash} ${bytes}`

export function parsePosition(text: string | undefined): ChainPosition {
  const [, seq, hash = '', bytes = '0'] = /^(\d{1,15}) ([0-9a-f]{64})(?: (\d{1,15}))?$/.exec(text ?? '') ?? []
  return seq === undefined ? chainStart : { seq: Number(seq), hash, bytes: Number(bytes) }
}

export function parseLine(line: string): {
  readonly hash: string
  readonly body: string
  readonly record: Params | undefined
} {
  const hash = line.slice(0, 64)
  const body = line.slice(65)
  if (line[64] !== ' ') return { hash, body, record: undefined }
  try {
    const record: unknown = JSON.parse(body)
    return { hash, body, record: isObject(record) ? record : undefined }
  } catch {
    return { hash, body, record: undefined }
  }
}

/** Few enough that reading one page of the longest rows does not block the event loop. */
export const rowsPerPage = 64

/** Returns all rows in order, including those that a checkpoint has replaced and that are not deleted yet. */
export async function* auditRows(store: Store, tenant: string): AsyncIterable<readonly [name: string, value: string]> {
  const prefix = rowsPrefix(tenant)
  for await (const page of pagesOf(store, prefix, rowsPerPage))
    for (const { key, value } of page) yield [key.slice(prefix.length).join('/'), value]
}
