/** Tests packages/cli/src/doctor/approvals.ts. */

import { join } from 'node:path'
import { createApprovals } from 'sluice/approvals'
import { sqliteStore } from 'sluice/sqlite'
import { fakeClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import { approvalFindings } from '../src/doctor/approvals.ts'
import { aFolder, sluice } from './command.ts'

const minute = 60_000
const now = 1_700_000_000_000
const mark = { at: now - minute, epoch: 'e', began: now - 600 * minute, writes: 7 }
const snapshot = { mark, madeAt: mark.began, now, openMs: 20 * minute }
const state = (change: Partial<typeof snapshot>): readonly string[] =>
  approvalFindings({ ...snapshot, ...change }).map((finding) => finding.state)

test('a store that is neither a copy nor ahead of the clock is good', () => {
  expect(state({})).toEqual(['good'])
  expect(approvalFindings({ ...snapshot, madeAt: undefined })).toMatchObject([{ state: 'good' }])
})

test('a clock that was set back is reported', () => {
  expect(approvalFindings({ ...snapshot, now: now - 60 * minute })).toMatchObject([
    { state: 'note', found: expect.stringContaining('59 minutes behind') },
  ])
})

test('a copy is reported while approvals in it may still be open', () => {
  expect(approvalFindings({ ...snapshot, madeAt: now - 5 * minute })).toMatchObject([
    { state: 'note', found: expect.stringContaining('copy'), fix: expect.stringContaining('wait 15 minutes') },
  ])
  expect(state({ madeAt: now - 21 * minute })).toEqual(['good'])
})

test('doctor reports a store file that is younger than the approvals in it', async () => {
  const cwd = aFolder()
  const free = { SLUICE_PORT: '0', SLUICE_CONSOLE__PORT: '0' }
  await sluice(cwd, ['doctor'], free)
  const store = sqliteStore(join(cwd, '.sluice', 'sluice.db'))
  const approvals = createApprovals({ store, clock: fakeClock(Date.now() - 60 * minute) })
  await approvals.grants.list()
  approvals.close()
  await store.close()
  const { out } = await sluice(cwd, ['doctor'], free)
  expect(out).toContain('• Approvals: the store was restored from a copy')
})
