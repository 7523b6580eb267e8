/**
 * Writes to a SQLite file as fast as it can and prints every acknowledged write, until it is killed. Started by
 * crash.ts with the path and the number of the round.
 */

import { writeSync } from 'node:fs'
import { sqliteStore } from '../../packages/sluice/src/stores/sqlite.ts'

const [, , path = '', round = ''] = process.argv
const store = sqliteStore(path)
/** Synchronous, so that printed lines are not lost with the process. */
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
