import { expect, test } from 'vitest'
import { random } from '../../packages/sluice/src/stores/contract-keys.ts'
import { exactOnPostgres, exactOnRedis, exactOnSqlite, excessIn } from './exact.ts'

const below = random(1)

test('three processes share hundreds of buckets on Redis: no window exceeds its limit', async () => {
  const { attempts, granted, lost } = await exactOnRedis(300, 3, () => below(2 ** 31) / 2 ** 31)
  expect(lost).toEqual([])
  expect(attempts).toBeGreaterThan(3_000)
  expect(granted).toBeGreaterThan(300)
}, 180_000)

test('the same through one SQLite file', async () => {
  const { attempts, lost } = await exactOnSqlite(100, 3, () => below(2 ** 31) / 2 ** 31)
  expect(lost).toEqual([])
  expect(attempts).toBeGreaterThan(1_000)
}, 180_000)

test('one grant too many in some window is detected', async () => {
  const { attempts, granted, lost } = await exactOnPostgres(200, 3, () => below(2 ** 31) / 2 ** 31)
  expect(lost).toEqual([])
  expect(attempts).toBeGreaterThan(2_000)
  expect(granted).toBeGreaterThan(200)
}, 180_000)

test('one grant too many in some window is found', () => {
  const bucket = { burst: 2, perSecond: 10 }
  expect(
    excessIn(
      [
        [0, 1, 0],
        [1, 2, 0],
        [500, 501, 0],
      ],
      bucket,
    ),
  ).toBeUndefined()
  expect(
    excessIn(
      [
        [0, 1, 0],
        [1, 2, 0],
        [50, 60, 0],
      ],
      bucket,
    ),
  ).toBe('3 granted in 60.0 ms')
  expect(
    excessIn(
      [
        [0, 1, 0],
        [900, 901, 0],
        [902, 905, 0],
        [906, 910, 0],
      ],
      bucket,
    ),
  ).toBe('3 granted in 10.0 ms')
})
