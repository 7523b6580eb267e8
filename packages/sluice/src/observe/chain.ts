/**
 * A log in which nothing can be changed, taken out or put in unnoticed: every record's hash covers the one before it.
 *
 * A row holds one or more records, under the number of its first. Writing it is one `swap` onto a number that is still
 * free, so processes that share a store build one chain, and one that dies leaves no half of anything. `head` says how
 * far the chain had come: without it, taking away its end would leave a shorter chain that looks whole.
 *
 * Whoever can write to the store can also write a new chain. Against that, keep the `head` of `verifyAudit` elsewhere.
 */

import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { sha256 } from '../core/sha256.ts'
import type { Key, Store } from '../core/store.ts'

export interface Tip {
  readonly seq: number
  readonly hash: string
}
const start: Tip = { seq: 0, hash: '' }

/** Where the heads of all tenants' chains are. */
export const heads: Key = ['audit', 'heads']
/** Not below the tenant's own prefix: the tenant's tools can write there. */
export const rowsOf = (tenant: string): Key => ['audit', 'rows', tenant]
export const headOf = (tenant: string): Key => [...heads, tenant]
const digits = 16
export const rowAt = (tenant: string, seq: number): Key => [...rowsOf(tenant), String(seq).padStart(digits, '0')]

const hashOf = (before: string, body: string): string => sha256(`${before}\n${body}`)

/**
 * Appends records as one row. Called again with the same ones after a failure, it finds its own row and writes no second;
 * `writer`, a name no other process has, keeps it from taking another's for its own.
 */
export function createChain(
  store: Store,
  tenant: string,
  writer: string,
): (records: readonly Params[]) => Promise<void> {
  let tip: Tip | undefined
  let head: string | undefined
  return async function append(records) {
    if (!tip) {
      head = await store.get(headOf(tenant))
      tip = await forward(store, tenant, parseTip(head))
    }
    for (;;) {
      const { text, end } = link(tip, records, writer)
      const key = rowAt(tenant, tip.seq + 1)
      if ((await store.swap(key, undefined, text)) || (await store.get(key)) === text) {
        tip = end
        break
      }
      tip = await forward(store, tenant, tip)
    }
    head = await moveHead(store, tenant, head, tip).catch(() => undefined)
  }
}

function link(from: Tip, records: readonly Params[], writer: string): { readonly text: string; readonly end: Tip } {
  let { seq, hash } = from
  const lines = records.map((record) => {
    const body = JSON.stringify({ ...record, writer, seq: ++seq })
    hash = hashOf(hash, body)
    return `${hash} ${body}`
  })
  return { text: lines.join('\n'), end: { seq, hash } }
}

/** Past what others have written since. */
async function forward(store: Store, tenant: string, from: Tip): Promise<Tip> {
  for (let tip = from; ; ) {
    const row = await store.get(rowAt(tenant, tip.seq + 1))
    if (row === undefined) return tip
    tip = endOf(row, tip.seq + 1)
  }
}

/** A row that cannot be read is passed over, and left for the verifier to name: it must not end the log. */
function endOf(row: string, seq: number): Tip {
  const { hash, record } = parseLine(row.slice(row.lastIndexOf('\n') + 1))
  const last = record?.['seq']
  return typeof last === 'number' && last >= seq ? { seq: last, hash } : { seq, hash: sha256(row) }
}

/** Only ever onwards. Failing costs nothing: the next row moves it. */
async function moveHead(store: Store, tenant: string, known: string | undefined, to: Tip): Promise<string> {
  const text = `${to.seq} ${to.hash}`
  for (let from = known; ; from = await store.get(headOf(tenant))) {
    if (parseTip(from).seq >= to.seq) return from ?? text
    if (await store.swap(headOf(tenant), from, text)) return text
  }
}

export function parseTip(text: string | undefined): Tip {
  const [, seq, hash = ''] = /^(\d{1,15}) ([0-9a-f]{64})$/.exec(text ?? '') ?? []
  return seq === undefined ? start : { seq: Number(seq), hash }
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

export type Verdict =
  | { readonly intact: true; readonly records: number; readonly head: string }
  | { readonly intact: false; readonly seq: number; readonly problem: Problem }
/** `altered`: not what was written there, or not in its place. `inserted`: nothing belongs there. */
export type Problem = 'altered' | 'missing' | 'inserted'

const perPage = 500

/** Names the first record that is not as it was written. */
export async function verifyAudit(store: Store, tenant: string): Promise<Verdict> {
  // Read first: rows written meanwhile are past it, and no alarm.
  const head = parseTip(await store.get(headOf(tenant)))
  let tip = start
  let atHead = head.seq === 0
  for await (const [name, value] of auditRows(store, tenant)) {
    const seq = Number(name)
    if (!/^\d+$/.test(name) || seq <= tip.seq) return { intact: false, seq, problem: 'inserted' }
    if (seq > tip.seq + 1) return { intact: false, seq: tip.seq + 1, problem: 'missing' }
    for (const line of value.split('\n')) {
      const { hash, body, record } = parseLine(line)
      const next = tip.seq + 1
      if (record?.['seq'] !== next || hash !== hashOf(tip.hash, body))
        return { intact: false, seq: next, problem: 'altered' }
      tip = { seq: next, hash }
      if (next === head.seq) {
        if (hash !== head.hash) return { intact: false, seq: next, problem: 'altered' }
        atHead = true
      }
    }
  }
  if (!atHead) return { intact: false, seq: tip.seq + 1, problem: 'missing' }
  return { intact: true, records: tip.seq, head: tip.hash }
}

export async function* auditRows(store: Store, tenant: string): AsyncIterable<readonly [name: string, value: string]> {
  const prefix = rowsOf(tenant)
  for (let after: Key | undefined; ; ) {
    const page = await store.list(prefix, after ? { limit: perPage, after } : { limit: perPage })
    for (const { key, value } of page) yield [key.slice(prefix.length).join('/'), value]
    after = page.at(-1)?.key
    if (page.length < perPage) return
  }
}
