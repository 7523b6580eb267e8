/** How another process opens the SQLite file of a test. */

import type { SqliteStore } from '../../packages/sluice/src/stores/sqlite.ts'
import { sqliteStore } from '../../packages/sluice/src/stores/sqlite.ts'

export const open = (path: string): SqliteStore => sqliteStore(path)
