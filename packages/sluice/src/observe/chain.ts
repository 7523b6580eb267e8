/**
 * A log in which nothing can be changed, taken out or put in unnoticed: every record's hash covers the one before it.
 *
 * A row holds one or more records, under the number of its first. Writing it is one `swap` onto a number that is still
 * free, so processes that share a store build one chain, and a process that dies leaves no partial row. `head` says how
 * far the chain had come: without it, taking away its end would leave a shorter chain that looks whole. A signed
 * checkpoint (`checkpoint.ts`) says where the chain begins once its oldest rows were pruned.
 *
 * Invariant: the row of the head is never pruned, and no row counts as written below the checkpoint. A writer that was
 * idle while others wrote and pruned would find the pruned number free; but then the head is not the one it knows, and it
 * reads the checkpoint before it relies on its row.
 *
 * A process that can write to the store can also write a new chain. Against that, keep the `head` of `verifyAudit` elsewhere.
 */

import type { Params } from '../core/json.ts'
import type { Store } from '../core/store.ts'
import type { ChainPosition } from './chain-layout.ts'
import { chainHash, headKey, parsePosition, positionAfter, positionText, rowEnd, rowKey } from './chain-layout.ts'
import { readCheckpoint } from './checkpoint.ts'

/**
 * Appends records as one row. Called again with the same ones after a failure, it finds its own row and writes no second;
 * `writer`, a name no other process has, keeps it from taking another's for its own.
 */
export function createChain(
  store: Store,
  tenant: string,
  writer: string,
): (records: readonly Params[]) => Promise<void> {
  let tip: ChainPosition | undefined
  let head: string | undefined
  async function findEnd(): Promise<ChainPosition> {
    head = await store.get(headKey(tenant))
    const known = parsePosition(head)
    const cut = await readCheckpoint(store, tenant)
    return skipToEnd(store, tenant, cut && cut.seq > known.seq ? cut : known)
  }
  return async function append(records) {
    tip ??= await findEnd()
    for (;;) {
      const { text, end } = buildRow(tip, records, writer)
      const key = rowKey(tenant, tip.seq + 1)
      if (!(await store.swap(key, undefined, text)) && (await store.get(key)) !== text) {
        tip = await skipToEnd(store, tenant, tip)
        continue
      }
      if (await store.swap(headKey(tenant), head, positionText(end))) head = positionText(end)
      else {
        const cut = await readCheckpoint(store, tenant)
        if (cut && cut.seq > tip.seq) {
          // This number was free only because its row was pruned: below the checkpoint no verifier would read the row.
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

/** Past the rows that other processes have written since. */
async function skipToEnd(store: Store, tenant: string, from: ChainPosition): Promise<ChainPosition> {
  for (let tip = from; ; ) {
    const row = await store.get(rowKey(tenant, tip.seq + 1))
    if (row === undefined) return tip
    tip = rowEnd(row, tip)
  }
}

/** Moves the head only forward. Returns the head that stands. */
async function moveHead(store: Store, tenant: string, to: ChainPosition): Promise<string> {
  const text = positionText(to)
  for (;;) {
    const from = await store.get(headKey(tenant))
    if (from !== undefined && parsePosition(from).seq >= to.seq) return from
    if (await store.swap(headKey(tenant), from, text)) return text
  }
}
