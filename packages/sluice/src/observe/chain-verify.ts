/** Proves a chain, from its beginning or from its checkpoint on. */

import type { Clock } from '../core/clock.ts'
import { systemClock } from '../core/clock.ts'
import { createPacer } from '../core/pacer.ts'
import type { Store } from '../core/store.ts'
import type { ChainPosition } from './chain-layout.ts'
import {
  auditRows,
  chainHash,
  chainStart,
  headKey,
  parseLine,
  parsePosition,
  positionAfter,
  rowEnd,
} from './chain-layout.ts'
import type { Defect } from './checkpoint.ts'
import { createSigner, readCheckpoint } from './checkpoint.ts'

/** Whether a chain is as it was written and, if it is not, where it breaks. */
export type AuditVerdict =
  | {
      readonly intact: true
      /** How many were proven: those from the checkpoint on. */
      readonly records: number
      readonly head: string
      /** Where the chain begins now, if its oldest records were pruned. */
      readonly checkpoint?: { readonly seq: number; readonly at: number; readonly defect?: Defect }
    }
  | ({ readonly intact: false } & Defect)

/** What checkpoints were signed with, and the clock that paces the reading. */
export interface VerifyOptions {
  /** The server's, which sign checkpoints. Without them a pruned chain cannot be proven, and its verdict is `unsigned`. */
  readonly secrets?: () => readonly string[]
  readonly clock?: Clock
}

/** Names the first record that is not as it was written. Works in slices, so that a server can run it while it serves. */
export async function verifyAudit(store: Store, tenant: string, options: VerifyOptions = {}): Promise<AuditVerdict> {
  const { secrets = () => [], clock = systemClock } = options
  // Read first: rows written meanwhile are past it, and no alarm.
  const head = parsePosition(await store.get(headKey(tenant)))
  const cut = await readCheckpoint(store, tenant)
  if (cut && !(await createSigner(secrets).check(tenant, cut)))
    return { intact: false, seq: cut.seq, problem: 'unsigned' }
  let tip: ChainPosition = cut ?? chainStart
  for await (const { end, defect } of checkedRows(store, tenant, tip, clock)) {
    if (defect) return { intact: false, ...defect }
    if (tip.seq < head.seq && end.seq >= head.seq && hashAt(end, head) !== head.hash)
      return { intact: false, seq: head.seq, problem: 'altered' }
    tip = end
  }
  if (tip.seq < head.seq) return { intact: false, seq: tip.seq + 1, problem: 'missing' }
  const records = tip.seq - (cut?.seq ?? 0)
  if (!cut) return { intact: true, records, head: tip.hash }
  const { seq, at, defect } = cut
  return { intact: true, records, head: tip.hash, checkpoint: { seq, at, ...(defect && { defect }) } }
}

/** The head is always at the end of a row: one within a row was not written by us. */
const hashAt = (end: ChainPosition, head: ChainPosition): string => (end.seq === head.seq ? end.hash : '')

export interface CheckedRow {
  readonly name: string
  /** Where the next row begins, also after a defect: by what the row says of itself. */
  readonly end: ChainPosition
  readonly text: string
  readonly defect?: Defect
}

/** Rows after `from` in order, each checked against the one before. Rows that `from` has replaced are skipped. */
export async function* checkedRows(
  store: Store,
  tenant: string,
  from: ChainPosition,
  clock: Clock,
): AsyncGenerator<CheckedRow, void> {
  const pace = createPacer(clock)
  let tip = from
  for await (const [name, text] of auditRows(store, tenant)) {
    await pace()
    if (/^\d+$/.test(name) && Number(name) <= from.seq) continue
    const row = checkRow(name, text, tip)
    yield row
    tip = row.end
  }
}

function checkRow(name: string, text: string, from: ChainPosition): CheckedRow {
  const seq = Number(name)
  const next = from.seq + 1
  const bad = (at: number, problem: Defect['problem']): CheckedRow => {
    const end = rowEnd(text, problem === 'missing' ? { ...from, seq: seq - 1 } : from)
    return { name, text, end: problem === 'inserted' ? from : end, defect: { seq: at, problem } }
  }
  if (!/^\d+$/.test(name)) return bad(next, 'inserted')
  if (seq < next) return bad(seq, 'inserted')
  if (seq > next) return bad(next, 'missing')
  let tip = from
  for (const line of text.split('\n')) {
    const { hash, body, record } = parseLine(line)
    if (record?.['seq'] !== tip.seq + 1 || hash !== chainHash(tip.hash, body)) return bad(tip.seq + 1, 'altered')
    tip = { ...tip, seq: tip.seq + 1, hash }
  }
  return { name, text, end: positionAfter(from, text, tip.seq, tip.hash) }
}

/** When the last record of a row was made; 0 if it does not say. */
export function rowTime(row: string): number {
  const at = parseLine(row.slice(row.lastIndexOf('\n') + 1)).record?.['at']
  return typeof at === 'number' ? at : 0
}
