/**
 * A log in which no record can be changed, removed or inserted unnoticed, because every record's hash covers the
 * previous one.
 *
 * A row holds one or more records, under the number of its first. It is written by one `swap` onto a free number. So
 * processes that share a store build one chain, and a process that crashes leaves no partial row. `head` is the end of
 * the chain; without it, removing the last rows would leave a shorter chain that looks complete. A signed checkpoint
 * (`checkpoint.ts`) is the start of the chain after its oldest rows were pruned.
 *
 * Invariant: the row of the head is never pruned, and no row below the checkpoint counts as written. A writer that was
 * idle while others wrote and pruned would find the pruned number free. But then the head is not the one it knows, so
 * it reads the checkpoint before it relies on its row.
 *
 * A process that can write to the store can also write a new chain. To detect that, keep the `head` of `verifyAudit`
 * elsewhere.
 */

import type { Params } from '../core/json.ts'
import type { Store } from '../core/store.ts'
import type { ChainPosition } from './chain-layout.ts'
import {
  chainHash,
  latestPositionKey,
  parsePosition,
  positionAfter,
  positionText,
  rowEnd,
  rowKey,
} from './chain-layout.ts'
import { readCheckpoint } from './checkpoint.ts'

/**
 * Returns a function that appends records as one row. If it is called again with the same records after a failure, or
 * because it seemed to hang, it finds its own row and writes no second. `writer` is unique per process, so that it does
 * not take another process's row for its own.
 */
export function createChain(
  store: Store,
  tenant: string,
  writer: string,
): (records: readonly Params[]) => Promise<void> {
  let tip: ChainPosition | undefined
  let head: string | undefined
  async function findEnd(): Promise<ChainPosition> {
    head = await store.get(latestPositionKey(tenant))
    const known = parsePosition(head)
    const cut = await readCheckpoint(store, tenant)
    return skipToEnd(store, tenant, cut && cut.seq > known.seq ? cut : known)
  }
  return async function append(records) {
    tip ??= await findEnd()
    for (;;) {
      const from: ChainPosition = tip
      const { text, end } = buildRow(from, records, writer)
      const key = rowKey(tenant, from.seq + 1)
      const isOurs = (await store.swap(key, undefined, text)) || (await store.get(key)) === text
      // This call seemed to hang, and was repeated meanwhile.
      if (tip !== from) return
      if (!isOurs) {
        tip = await skipToEnd(store, tenant, from)
        continue
      }
      if (await store.swap(latestPositionKey(tenant), head, positionText(end))) head = positionText(end)
      else {
        const cut = await readCheckpoint(store, tenant)
        if (cut && cut.seq > from.seq) {
          // The number was free only because its row was pruned. Below the checkpoint no verifier would read the row.
          await store.delete(key)
          tip = await findEnd()
          continue
        }
        head = await moveHead(store, tenant, end)
      }
      tip = end
      return
    }
  }
}

function buildRow(
  from: ChainPosition,
  records: readonly Params[],
  writer: string,
): { readonly text: string; readonly end: ChainPosition } {
  let { seq, hash } = from
  const lines = records.map((record) => {
    const body = JSON.stringify({ ...record, writer, seq: ++seq })
    hash = chainHash(hash, body)
    return `${hash} ${body}`
  })
  const text = lines.join('\n')
  return { text, end: positionAfter(from, text, seq, hash) }
}

/** Skips the rows that other processes have written since. */
async function skipToEnd(store: Store, tenant: string, from: ChainPosition): Promise<ChainPosition> {
  for (let tip = from; ; ) {
    const row = await store.get(rowKey(tenant, tip.seq + 1))
    if (row === undefined) return tip
    tip = rowEnd(row, tip)
  }
}

/** Moves the head forward only. Returns the current head. */
async function moveHead(store: Store, tenant: string, to: ChainPosition): Promise<string> {
  const text = positionText(to)
  for (;;) {
    const from = await store.get(latestPositionKey(tenant))
    if (from !== undefined && parsePosition(from).seq >= to.seq) return from
    if (await store.swap(latestPositionKey(tenant), from, text)) return text
  }
}
