import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fakeClock } from '../testing/clock.ts'
import type { OpenedStore } from './contract.ts'
import { storeContract } from './contract.ts'
import type { SqliteStore } from './sqlite.ts'
import { sqliteStore } from './sqlite.ts'

storeContract('sqlite', (): OpenedStore => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-sqlite-'))
  const path = join(folder, 'store.db')
  const clock = fakeClock(1_800_000_000_000)
  const opened: SqliteStore[] = []
  const open = (): SqliteStore => {
    const store = sqliteStore(path, { clock })
    opened.push(store)
    return store
  }
  return {
    store: open(),
    openAnother: async () => open(),
    reopen: async () => open(),
    otherProcess: { module: new URL('../../../../test/stores/open-sqlite.ts', import.meta.url).href, argument: path },
    advance: (ms) => clock.advance(ms),
    async close() {
      for (const store of opened) await store.close()
      rmSync(folder, { recursive: true })
    },
  }
})
