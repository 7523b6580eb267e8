/** One more row in an audit of many on SQLite, and the last page of it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore } from 'sluice'
import { type Audit, createAudit, readAudit } from 'sluice/audit'
import { sqliteStore } from 'sluice/sqlite'
import type { Growth } from './growth.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-growth-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const store = sqliteStore(join(folder, 'audit.db'))
const head = ['audit', 'heads', 'acme']
let audit = createAudit({ store })
let rows = 0

/** Each row has one record, as on a server with little traffic. */
async function addRow(to: Audit): Promise<void> {
  rows++
  to.record('acme', 'called', { tool: 'echo', caller: 'ann', outcome: 'complete', number: rows })
  await to.flush()
}

/** Continues the chain in memory, and moves its rows to the file together. One by one, each would wait for the disk. */
async function addRows(count: number): Promise<void> {
  const memory = memoryStore()
  const end = await store.get(head)
  if (end !== undefined) await memory.set(head, end)
  const ahead = createAudit({ store: memory })
  for (let i = 0; i < count; i++) await addRow(ahead)
  const entries = await memory.list(['audit'], { limit: count + 1 })
  await Promise.all(entries.map(({ key, value }) => store.set(key, value)))
}

const perTransaction = 5_000

export const growth: Growth = {
  what: 'audit rows, SQLite',
  measured: 'one row is written, the last ten are read',
  sizes: [1_000, 10_000, 100_000, 1_000_000],
  async growTo(size) {
    while (rows < size) await addRows(Math.min(perTransaction, size - rows))
    // Finds the new end of the chain.
    audit = createAudit({ store })
  },
  async call() {
    await addRow(audit)
    const { entries } = await readAudit(store, 'acme', { limit: 10 })
    if (entries.length < 10) throw new Error(`${entries.length} entries`)
  },
}
