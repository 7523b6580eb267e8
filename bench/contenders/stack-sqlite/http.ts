/** The full stack with audit on a SQLite file. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { audit } from 'sluice'
import { sqliteStore } from 'sluice/sqlite'
import { serveFull } from '../sluice-full/serve.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-sqlite-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

await serveFull({ store: sqliteStore(join(folder, 'store.db')), plugins: [audit()] })
