/** Takes the write lock of a SQLite file, reports it, and holds it until its input ends. */

import { DatabaseSync } from 'node:sqlite'

const database = new DatabaseSync(process.argv[2] ?? '', { timeout: 20_000 })
database.exec('BEGIN IMMEDIATE')
process.stdout.write('held\n')
process.stdin.resume().on('end', () => {
  database.exec('ROLLBACK')
  database.close()
})
