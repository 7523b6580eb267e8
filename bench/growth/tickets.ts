/** Pending tickets on SQLite. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from 'sluice/sqlite'
import type { Growth } from './growth.ts'
import { ticketGrowth } from './ticket-growth.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-growth-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

export const growth: Growth = ticketGrowth('tickets, SQLite', sqliteStore(join(folder, 'tickets.db')))
