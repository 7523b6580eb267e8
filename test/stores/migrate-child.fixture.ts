/** Migrates a SQLite file with a step that takes long enough to be killed in. Started by sqlite-faults.test.ts. */

import { writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { migrate } from '../../packages/sluice/src/stores/sqlite-file.ts'
import { steps } from './migrate-steps.ts'

const database = new DatabaseSync(process.argv[2] ?? '', { timeout: 20_000 })
database.exec('PRAGMA journal_mode = WAL')
database.function('say', (word) => {
  writeSync(1, `${String(word)}\n`)
  return word
})
migrate(database, steps(process.argv[3] === 'long' ? 20_000_000 : 10))
