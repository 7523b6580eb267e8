/** P06. The long form, 200 tickets × 50 retries × 4 processes on each store, is `npm run soak -- approval-races`. */

import { expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../kit/processes/postgres.ts'
import { startRedis } from '../kit/processes/redis.ts'
import { temporaryFolder } from '../kit/processes/temporary-folder.ts'
import { race, raceInMemory } from './race.ts'

const short = { tickets: 20, retries: 10, processes: 4 }

test('P06: an approval is spent once, in one process on memory', { timeout: 120_000 }, async () => {
  const { executions, calls, lost } = await raceInMemory({ folder: temporaryFolder(), tickets: 200, retries: 50 })
  expect({ executions, calls, lost }).toEqual({ executions: 200, calls: 10_000, lost: [] })
})

test('P06: an approval is spent once, by four processes on SQLite', { timeout: 120_000 }, async () => {
  const { executions, lost } = await race({ store: 'sqlite', folder: temporaryFolder(), ...short })
  expect({ executions, lost }).toEqual({ executions: 20, lost: [] })
})

test('P06: an approval is spent once, by four processes on Redis', { timeout: 120_000 }, async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const { executions, lost } = await race({ store: redis.url, folder: temporaryFolder(), ...short })
  expect({ executions, lost }).toEqual({ executions: 20, lost: [] })
})

test('P06: an approval is spent once, by four processes on PostgreSQL', { timeout: 120_000 }, async () => {
  const postgres = await startPostgres(['fsync=on'])
  onTestFinished(() => postgres.stop())
  const { executions, lost } = await race({ store: postgres.url, folder: temporaryFolder(), ...short })
  expect({ executions, lost }).toEqual({ executions: 20, lost: [] })
})
