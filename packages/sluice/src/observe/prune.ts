/**
 * Prunes the audit: removes a tenant's oldest rows and leaves a signed checkpoint instead.
 *
 * The order makes it safe to stop at any point. Rows are verified before they are removed, so that pruning cannot hide
 * a change. The checkpoint is written before the first row is removed. From then on nothing reads the rows below it,
 * and the next run removes a row that a crash leaves. The row of the head always stays.
 */

import type { Clock } from '../core/clock.ts'
import { createPacer } from '../core/pacer.ts'
import type { Key, Store } from '../core/store.ts'
import { pagesOf } from '../core/store.ts'
import { createChain } from './chain.ts'
import type { ChainPosition } from './chain-layout.ts'
import { chainStart, latestPositionKey, parsePosition, rowsPerPage, rowsPrefix } from './chain-layout.ts'
import { checkedRows, rowTime } from './chain-verify.ts'
import type { Defect, StoredCheckpoint } from './checkpoint.ts'
import { checkpointKey, createSigner, readCheckpoint } from './checkpoint.ts'

/** How much of a tenant's audit is kept. Records beyond either limit are pruned, oldest first. */
export interface RetentionLimits {
  readonly maxAgeMs?: number
  /** Size of the rows in the store. A call takes about 1 KB. */
  readonly maxBytes?: number
}

/** How far to prune, and the secrets that sign the checkpoint. */
export interface PruneOptions extends RetentionLimits {
  /** The server's secrets. The first signs the checkpoint. */
  readonly secrets: () => readonly string[]
  readonly clock: Clock
  /** A name that no other process has. */
  readonly writer: string
  /** The actor in the record of the pruning: an operator, or `retention`. */
  readonly by: string
  /** Also prunes a chain with a defect. The checkpoint keeps the first defect, so that every later verdict names it. */
  readonly force?: boolean
  /** Called between rows. Returns true to stop early. */
  readonly stopped?: () => boolean
}

/** The result of pruning. */
export interface PruneResult {
  readonly removed: number
  /** The reason why nothing was removed, if the chain is not as it was written. */
  readonly refused?: Defect
}

/** Removes the oldest records of a tenant and signs a checkpoint where the chain now begins. */
export async function pruneAudit(store: Store, tenant: string, options: PruneOptions): Promise<PruneResult> {
  const { secrets, clock, writer, by, force = false } = options
  const signer = createSigner(secrets)
  const previous = await readCheckpoint(store, tenant)
  const signedBy = previous && (await signer.check(tenant, previous))
  const unsigned: Defect | undefined = previous && !signedBy ? { seq: previous.seq, problem: 'unsigned' } : undefined
  if (unsigned && !force) return { removed: 0, refused: unsigned }
  if (previous) await removeRows(store, tenant, previous.seq, options)
  const { cut, defect } = await findCut(store, tenant, previous, options)
  if (defect && !force) {
    // Rows that another process pruned while they were read are not missing.
    const isPrunedElsewhere = (await store.get(checkpointKey(tenant))) !== previous?.text
    return isPrunedElsewhere ? { removed: 0 } : { removed: 0, refused: defect }
  }
  const from = previous?.seq ?? 0
  const known = previous?.defect ?? unsigned ?? defect
  // Signed again while the old secret is still valid. Once it is dropped, the chain could no longer be verified.
  if (cut.seq === from && (!previous || signedBy === 'newest')) return { removed: 0 }
  const { seq, hash, bytes } = cut
  const at = clock.now()
  const text = await signer.sign(tenant, { seq, hash, bytes, at, ...(known && { defect: known }) })
  // Another process pruned meanwhile.
  if (!(await store.swap(checkpointKey(tenant), previous?.text, text))) return { removed: 0 }
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
  previous: StoredCheckpoint | undefined,
  { maxAgeMs = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY, clock, stopped, force }: PruneOptions,
): Promise<{ readonly cut: ChainPosition; readonly defect?: Defect }> {
  const head = parsePosition(await store.get(latestPositionKey(tenant)))
  const oldest = clock.now() - maxAgeMs
  let cut: ChainPosition = previous ?? chainStart
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

/**
 * Removes rows a page at a time. Concurrent deletions are committed together; one by one, each would wait for the disk.
 */
async function removeRows(store: Store, tenant: string, upTo: number, { clock, stopped }: PruneOptions): Promise<void> {
  const pace = createPacer(clock)
  const isBelow = (key: Key): boolean => /^\d+$/.test(key.at(-1) ?? '') && Number(key.at(-1)) <= upTo
  for await (const page of pagesOf(store, rowsPrefix(tenant), rowsPerPage)) {
    if (stopped?.()) return
    const below = page.map(({ key }) => key).filter(isBelow)
    await Promise.all(below.map((key) => store.delete(key)))
    await pace()
    if (below.length === 0) return
  }
}
