/**
 * Ends the audit that would never end: removes a tenant's oldest rows and leaves a signed checkpoint in their place.
 *
 * The order makes it safe to stop anywhere. What is to go is verified first, so that pruning cannot hide a change. The
 * checkpoint is written before the first row goes: from then on nothing reads the rows below it, and a row that a crash
 * leaves there is removed by the next run. The row of the head always stays.
 */

import type { Clock } from '../core/clock.ts'
import { createPacer } from '../core/pacer.ts'
import type { Key, Store } from '../core/store.ts'
import { createChain } from './chain.ts'
import type { ChainPosition } from './chain-layout.ts'
import { chainStart, headKey, parsePosition, rowsPerPage, rowsPrefix } from './chain-layout.ts'
import { checkedRows, rowTime } from './chain-verify.ts'
import type { Defect, StoredCheckpoint } from './checkpoint.ts'
import { checkpointKey, createSigner, readCheckpoint } from './checkpoint.ts'

/** How much of a tenant's audit is kept. Records past either limit are pruned, oldest first. */
export interface RetentionLimits {
  readonly maxAgeMs?: number
  /** Of the rows in the store; a call takes about 1 KB. */
  readonly maxBytes?: number
}

/** How far to prune, and what the checkpoint is signed with. */
export interface PruneOptions extends RetentionLimits {
  /** The server's: the first signs the checkpoint. */
  readonly secrets: () => readonly string[]
  readonly clock: Clock
  /** A name that no other process has. */
  readonly writer: string
  /** For the record of the pruning: an operator, or `retention`. */
  readonly by: string
  /** Prunes a chain with a defect, too. The checkpoint keeps the first one, so that every later verdict names it. */
  readonly force?: boolean
  /** Asked between rows; true ends the work early. */
  readonly stopped?: () => boolean
}

/** What pruning removed. */
export interface PruneResult {
  readonly removed: number
  /** Why nothing was removed, if the chain is not as it was written. */
  readonly refused?: Defect
}

/** Removes the oldest records of a tenant and signs a checkpoint where the chain now begins. */
export async function pruneAudit(store: Store, tenant: string, options: PruneOptions): Promise<PruneResult> {
  const { secrets, clock, writer, by, force = false } = options
  const signer = createSigner(secrets)
  const before = await readCheckpoint(store, tenant)
  const signedBy = before && (await signer.check(tenant, before))
  const unsigned: Defect | undefined = before && !signedBy ? { seq: before.seq, problem: 'unsigned' } : undefined
  if (unsigned && !force) return { removed: 0, refused: unsigned }
  if (before) await removeRows(store, tenant, before.seq, options)
  const { cut, defect } = await findCut(store, tenant, before, options)
  if (defect && !force) return { removed: 0, refused: defect }
  const from = before?.seq ?? 0
  const known = before?.defect ?? unsigned ?? defect
  // Signed again while the old secret still counts: once it is dropped nobody could prove the chain any more.
  if (cut.seq === from && (!before || signedBy === 'newest')) return { removed: 0 }
  const { seq, hash, bytes } = cut
  const at = clock.now()
  const text = await signer.sign(tenant, { seq, hash, bytes, at, ...(known && { defect: known }) })
  // Another process pruned meanwhile.
  if (!(await store.swap(checkpointKey(tenant), before?.text, text))) return { removed: 0 }
  const removed = seq - from
  if (removed > 0) {
    await createChain(store, tenant, writer)([{ at, kind: 'pruned', records: removed, upTo: seq, by }])
    await removeRows(store, tenant, seq, options)
  }
  return { removed }
}

async function findCut(
  store: Store,
  tenant: string,
  before: StoredCheckpoint | undefined,
  { maxAgeMs = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY, clock, stopped, force }: PruneOptions,
): Promise<{ readonly cut: ChainPosition; readonly defect?: Defect }> {
  const head = parsePosition(await store.get(headKey(tenant)))
  const oldest = clock.now() - maxAgeMs
  let cut: ChainPosition = before ?? chainStart
  let found: Defect | undefined
  for await (const { end, text, defect } of checkedRows(store, tenant, cut, clock)) {
    const isDue = rowTime(text) < oldest || head.bytes - cut.bytes > maxBytes
    if (!isDue || end.seq >= head.seq || stopped?.()) break
    found ??= defect
    if (found && !force) break
    cut = end
  }
  return { cut, ...(found && { defect: found }) }
}

/** A page at a time: deletions that come together are committed together, and one by one each would wait for the disk. */
async function removeRows(store: Store, tenant: string, upTo: number, { clock, stopped }: PruneOptions): Promise<void> {
  const pace = createPacer(clock)
  const isBelow = (key: Key): boolean => /^\d+$/.test(key.at(-1) ?? '') && Number(key.at(-1)) <= upTo
  for (let last: Key | undefined; !stopped?.(); ) {
    const page = await store.list(
      rowsPrefix(tenant),
      last ? { limit: rowsPerPage, after: last } : { limit: rowsPerPage },
    )
    const below = page.map(({ key }) => key).filter(isBelow)
    await Promise.all(below.map((key) => store.delete(key)))
    await pace()
    last = page.at(-1)?.key
    if (below.length === 0 || page.length < rowsPerPage) return
  }
}
