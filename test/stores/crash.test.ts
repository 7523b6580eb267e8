import { expect, test } from 'vitest'
import { random } from '../../packages/sluice/src/stores/contract-keys.ts'
import { crashPostgres, crashPostgresWriter, crashRedis, crashSqlite, cutPowerOfSqlite } from './crash.ts'

const below = random(1)
const chance = (): number => below(1000) / 1000

test('ten kills −9 of a process that writes to SQLite lose no acknowledged write', async () => {
  const { acknowledged, lost } = await crashSqlite(10, chance)
  expect(lost).toEqual([])
  expect(acknowledged).toBeGreaterThan(100)
}, 60_000)

test('a power cut leaves every acknowledged write on the disk', { timeout: 120_000 }, async ({ skip }) => {
  const report = await cutPowerOfSqlite(5, chance)
  if (!report) return skip('this account may not mount a disk')
  expect(report.lost).toEqual([])
  expect(report.acknowledged).toBeGreaterThan(50)
})

test('two kills −9 of Redis lose no acknowledged write', async () => {
  const { acknowledged, lost } = await crashRedis(2, chance)
  expect(lost).toEqual([])
  expect(acknowledged).toBeGreaterThanOrEqual(40)
}, 180_000)

test('four kills −9 of a process that writes to PostgreSQL lose nothing it had acknowledged', async () => {
  const { acknowledged, lost } = await crashPostgresWriter(4, chance)
  expect(lost).toEqual([])
  // Few, because a kill may come while the writer is still opening its connections.
  expect(acknowledged).toBeGreaterThan(4)
}, 60_000)

test('two kills −9 of PostgreSQL lose nothing it had acknowledged', async () => {
  const { acknowledged, lost } = await crashPostgres(2, chance)
  expect(lost).toEqual([])
  expect(acknowledged).toBeGreaterThanOrEqual(40)
}, 180_000)
