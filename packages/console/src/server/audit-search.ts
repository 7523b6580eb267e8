/**
 * Searches the audit of one tenant or of several, newest first. Each tenant has its own chain, so the chains are read
 * side by side and merged by time.
 */

import { RpcError } from 'sluice'
import type { AuditEntry } from 'sluice/audit'
import { auditTenants, readAudit } from 'sluice/audit'
import { createPacer, isObject } from 'sluice/internal'
import type { AuditRecord, Operator, RouteInput, RouteOutput } from '../api/index.ts'
import type { ConsoleState } from './console-state.ts'

const pageSize = 50
const searchWindow = 500
/** The maximum number of records scanned per search. The page can continue from there. */
const maxScanned = 5_000
/** The cursor of a page has a position in every chain, so their number is limited. */
const maxTenants = 100

/** One chain while it is read. `before` is the next record to read; `undefined` at its oldest one. */
interface ChainReader {
  readonly tenant: string
  readonly found: AuditRecord[]
  before: number | undefined
  isOpen: boolean
}

export async function searchAudit(
  { store, clock }: ConsoleState,
  operator: Operator,
  { tenant, text = '', before: cursor }: RouteInput<'listAudit'>,
): Promise<RouteOutput<'listAudit'>> {
  const needle = text.toLowerCase()
  const tenants = tenant === undefined ? await visibleTenants() : [tenant]
  const readers = tenants.map((each) => readerAt(each, cursor === undefined ? undefined : parseCursor(cursor)))
  const pace = createPacer(clock)
  const records: AuditRecord[] = []
  let scanned = 0

  while (records.length < pageSize) {
    const waiting = readers.filter(({ found, isOpen }) => found.length === 0 && isOpen)
    if (waiting.length > 0 && scanned >= maxScanned) break
    for (const reader of waiting) await readOn(reader)
    if (waiting.length > 0) continue
    const newest = newestOf(readers)
    if (!newest) break
    records.push(...newest.found.splice(0, 1))
  }
  const next = readers.some(({ found, isOpen }) => found.length > 0 || isOpen) ? cursorOf(readers) : undefined
  return { records, scanned, ...(next !== undefined && { before: next }) }

  async function visibleTenants(): Promise<readonly string[]> {
    const all = await auditTenants(store)
    const visible = operator.tenants.length === 0 ? all : all.filter((each) => operator.tenants.includes(each))
    if (visible.length > maxTenants)
      throw new RpcError('invalidParams', `There are more than ${maxTenants} tenants: choose one`)
    return visible
  }
  async function readOn(reader: ChainReader): Promise<void> {
    const limit = needle === '' ? pageSize : searchWindow
    const window = await readAudit(store, reader.tenant, { before: reader.before, limit })
    for (const entry of window.entries) {
      scanned++
      if (needle === '' || JSON.stringify(entry.record).toLowerCase().includes(needle))
        reader.found.push(toRecord(reader.tenant, entry))
    }
    reader.before = window.before
    reader.isOpen = window.before !== undefined
    await pace()
  }
}

function newestOf(readers: readonly ChainReader[]): ChainReader | undefined {
  let newest: ChainReader | undefined
  for (const reader of readers)
    if (reader.found[0] && (!newest?.found[0] || reader.found[0].at > newest.found[0].at)) newest = reader
  return newest
}

/** The next record of each chain; 0 for a chain that was read to its end. */
const cursorOf = (readers: readonly ChainReader[]): string =>
  JSON.stringify(
    Object.fromEntries(
      readers.map(({ tenant, found, before = 0 }) => [tenant, found[0] === undefined ? before : found[0].seq + 1]),
    ),
  )

/** A tenant that is not in the cursor had no record when the first page was read, so it is left out. */
function readerAt(tenant: string, positions: ReadonlyMap<string, number> | undefined): ChainReader {
  const before = positions ? (positions.get(tenant) ?? 0) : undefined
  return { tenant, found: [], before, isOpen: before !== 0 }
}

function parseCursor(text: string): ReadonlyMap<string, number> {
  try {
    const parsed: unknown = JSON.parse(text)
    const positions = isObject(parsed) ? Object.entries(parsed) : undefined
    if (positions?.every(([, seq]) => Number.isSafeInteger(seq) && Number(seq) >= 0))
      return new Map(positions.map(([tenant, seq]) => [tenant, Number(seq)]))
  } catch {
    // Refused below.
  }
  throw new RpcError('invalidParams', '"before" is not a cursor of this route')
}

function toRecord(tenant: string, { seq, hash, record: { seq: _, at, kind, ...fields } }: AuditEntry): AuditRecord {
  const shownFields = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  const shown = Object.fromEntries(shownFields)
  return { tenant, seq, hash, at: Number(at ?? 0), kind: String(kind ?? '?'), fields: shown }
}
