/** The fitness database while another process holds its write lock. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { holdLock } from '../../../test/kit/processes/sqlite-lock.ts'
import { sqliteFile } from '../src/sqlite.ts'

test('a write is refused after a second, while the event loop and reads continue', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-fitness-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'fitness.db')
  const file = sqliteFile(path)
  onTestFinished(() => file.close())
  const count = 'SELECT count(*) AS count FROM activities'
  const write = () => file.execute('DELETE FROM activities WHERE 1 = 0')
  await write()
  const lock = await holdLock(path)
  let ticks = 0
  const timer = setInterval(() => ticks++, 5)
  await expect(write()).rejects.toMatchObject({
    reason: 'storeUnavailable',
    message: 'The store is locked by another process',
  })
  clearInterval(timer)
  expect(ticks).toBeGreaterThan(20)
  expect(await file.query(count)).toMatchObject([{ count: 0 }])
  await lock.release()
  expect(await write()).toBe(0)
})
