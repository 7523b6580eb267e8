/** Verifies a chain, from its start or from its checkpoint. */

import type { Clock } from '../core/clock.ts'
import { systemClock } from '../core/clock.ts'
import { createPacer } from '../core/pacer.ts'
import type { Store } from '../core/store.ts'
import type { ChainPosition } from './chain-layout.ts'
import {
  auditRows,
  chainHash,
  chainStart,
  latestPositionKey,
  parseLine,
  parsePosition,
  positionAfter,
  rowEnd,
} from './chain-layout.ts'
import type { Defect } from './checkpoint.ts'
import { checkpointKey, createSigner, readCheckpoint } from './checkpoint.ts'

/** Whether a chain is unchanged, and otherwise where it breaks. */
export type AuditVerdict =
  | {
      readonly intact: true
      /** Number of verified records, from the checkpoint on. */
      readonly records: number
      readonly head: string
      /** The current start of the chain, if its oldest records were pruned. */
      readonly checkpoint?: { readonly seq: number; readonly at: number; readonly defect?: Defect }
    }
  | ({ readonly intact: false } & Defect)

/** The secrets that signed checkpoints, and the clock that paces the reading. */
export interface VerifyOptions {
  /**
   * The server's secrets, which sign checkpoints. Without them a pruned chain cannot be verified, and the result is
   * `unsigned`.
   */
  readonly secrets?: () => readonly string[]
  readonly clock?: Clock
}

/** Rows are pruned once an hour. A checkpoint that changes more often is not ours, and must not keep the verifier busy. */
const maxTries = 3

/**
 * Returns the first record that is not as it was written. Works in slices, so that a server can run it while it serves.
 */
export async function verifyAudit(store: Store, tenant: string, options: VerifyOptions = {}): Promise<AuditVerdict> {
  for (let tries = 1; ; tries++) {
    const before = await store.get(checkpointKey(tenant))
    const verdict = await verifyOnce(store, tenant, options)
    // Rows that were pruned while they were read are not missing.
    if (verdict.intact || tries >= maxTries || (await store.get(checkpointKey(tenant))) === before) return verdict
  }
}

async function verifyOnce(store: Store, tenant: string, options: VerifyOptions): Promise<AuditVerdict> {
  const { secrets = () => [], clock = systemClock } = options
  // Read first, so that rows written meanwhile come after it and raise no alarm.
  const head = parsePosition(await store.get(latestPositionKey(tenant)))
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

/** Returns the hash at the head. The head is always at the end of a row; one within a row is a forgery. */
const hashAt = (end: ChainPosition, head: ChainPosition): string => (end.seq === head.seq ? end.hash : '')

export interface CheckedRow {
  readonly name: string
  /** The start of the next row, also after a defect, by the row's own content. */
  readonly end: ChainPosition
  readonly text: string
  readonly defect?: Defect
}

/**
 * Returns the rows after `from` in order, each checked against the previous one. Rows that `from` has replaced are
 * skipped.
 */
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
  const broken = (at: number, problem: Defect['problem']): CheckedRow => {
    const end = rowEnd(text, problem === 'missing' ? { ...from, seq: seq - 1 } : from)
    return { name, text, end: problem === 'inserted' ? from : end, defect: { seq: at, problem } }
  }
  if (!/^\d+$/.test(name)) return broken(next, 'inserted')
  if (seq < next) return broken(seq, 'inserted')
  if (seq > next) return broken(next, 'missing')
  let tip = from
  for (const line of text.split('\n')) {
    const { hash, body, record } = parseLine(line)
    if (record?.['seq'] !== tip.seq + 1 || hash !== chainHash(tip.hash, body)) return broken(tip.seq + 1, 'altered')
    tip = { ...tip, seq: tip.seq + 1, hash }
  }
  return { name, text, end: positionAfter(from, text, tip.seq, tip.hash) }
}

/** Returns the time of the last record of a row; 0 if it has none. */
export function rowTime(row: string): number {
  const at = parseLine(row.slice(row.lastIndexOf('\n') + 1)).record?.['at']
  return typeof at === 'number' ? at : 0
}
