/** One more record in an audit of many on SQLite, and the last page of it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAudit, readAudit } from 'sluice/audit'
import { sqliteStore } from 'sluice/sqlite'
import type { Growth } from './growth.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-growth-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const store = sqliteStore(join(folder, 'audit.db'))
const audit = createAudit({ store, maxQueued: 100_000 })
let records = 0

function record(): void {
  records++
  audit.record('acme', 'called', { tool: 'echo', caller: 'ann', outcome: 'complete', number: records })
}

export const growth: Growth = {
  what: 'audit records',
  measured: 'one record is written, the last ten are read',
  sizes: [1_000, 10_000, 100_000],
  async growTo(size) {
    while (records < size) {
      for (let i = 0; i < 1_000 && records < size; i++) record()
      await audit.flush()
    }
  },
  async call() {
    record()
    await audit.flush()
    const { entries } = await readAudit(store, 'acme', { limit: 10 })
    if (entries.length < 10) throw new Error(`${entries.length} entries`)
  },
}
