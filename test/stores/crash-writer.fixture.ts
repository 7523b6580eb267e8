/**
 * Writes as fast as it can to a SQLite file or a PostgreSQL and says, line by line, what was acknowledged, until it is
 * killed. Started by crash.ts with the path or the URL and the number of the round.
 */

import { writeSync } from 'node:fs'
import { postgresStore } from '../../packages/sluice/src/stores/postgres.ts'
import { sqliteStore } from '../../packages/sluice/src/stores/sqlite.ts'

const [, , where = '', round = ''] = process.argv
const store = where.startsWith('postgresql:') ? postgresStore({ url: where, deadlineMs: 20_000 }) : sqliteStore(where)
/** Synchronous: what this process has said must not die with it. */
const acknowledge = (...what: readonly unknown[]): void => {
  writeSync(1, `${JSON.stringify(what)}\n`)
}
const padding = 'x'.repeat(500)

async function write(who: number): Promise<never> {
  for (let i = 0; ; i++) {
    const name = `${round}-${who}-${i}`
    const at = await store.append(['log', String(who)], name + padding)
    acknowledge('there', at, name + padding)
    const key = ['claims', name]
    if (!(await store.swap(key, undefined, 'claimed'))) throw new Error(`${name} was claimed before`)
    acknowledge('there', key, 'claimed')
    if (i % 3 === 0) {
      await store.swap(key, 'claimed', 'done')
      acknowledge('there', key, 'done')
    }
    if (i % 5 === 0) {
      await store.delete(key)
      acknowledge('gone', key)
    }
    await store.take(['bucket'], { burst: 1000, perSecond: 1000 })
  }
}
await Promise.all([0, 1, 2, 3].map(write))
