/**
 * Tests packages/sluice/src/approvals/time.ts: setting the clock back revives nothing, and neither does a restored
 * store.
 */

import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from 'sluice'
import { memoryStore } from 'sluice'
import { sqliteStore } from 'sluice/sqlite'
import type { FakeClock } from 'sluice/testing'
import { fakeClock, settle } from 'sluice/testing'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../kit/processes/temporary-folder.ts'
import { openApprovalsFixture, operator, owner, requiredIn } from '../kit/servers/approvals.fixture.ts'

const minute = 60_000
const hour = 60 * minute
const start = 1_700_000_000_000
const stores: readonly (readonly [string, (clock: FakeClock) => Store])[] = [
  ['memory', (clock) => memoryStore(clock)],
  ['SQLite', (clock) => sqliteStore(join(temporaryFolder(), 'store.db'), { clock })],
]

describe.each(stores)('on %s, a clock that is set back', (_, open) => {
  test('does not revive an expired approval', async () => {
    const clock = fakeClock(start)
    const { call, approvals, ran } = await openApprovalsFixture({}, { clock, store: open(clock) })
    const { request_id } = requiredIn(await call('pay', { amount: 5 }))
    await approvals.decide(request_id, { approved: true }, owner)
    await clock.advance(11 * minute)
    clock.set(start)
    expect(await approvals.get(request_id)).toMatchObject({ status: 'expired' })
    expect(requiredIn(await call('pay', { amount: 5 })).request_id).not.toBe(request_id)
    expect(ran).toEqual([])
  })

  test('does not give a person or a caller more time', async () => {
    const clock = fakeClock(start)
    const { call, approvals, ran } = await openApprovalsFixture({}, { clock, store: open(clock) })
    const [undecided, unused] = [
      requiredIn(await call('pay', { amount: 5 })),
      requiredIn(await call('pay', { amount: 6 })),
    ]
    await approvals.decide(unused.request_id, { approved: true }, owner)
    clock.set(start - hour)
    await clock.advance(10 * minute)
    await expect(approvals.decide(undecided.request_id, { approved: true }, owner)).rejects.toMatchObject({
      reason: 'approvalInvalid',
    })
    requiredIn(await call('pay', { amount: 6 }))
    expect(ran).toEqual([])
  })

  test('does not lengthen a grant', async () => {
    const clock = fakeClock(start)
    const { call, approvals, ran } = await openApprovalsFixture(
      { grants: { maxMs: hour } },
      { clock, store: open(clock) },
    )
    const { request_id } = requiredIn(await call('pay', { amount: 5 }))
    await approvals.grants.create({ ticket: request_id, arguments: 'exactly', durationMs: 20 * minute }, operator)
    await call('pay', { amount: 5 })
    clock.set(start - hour)
    await clock.advance(20 * minute)
    requiredIn(await call('pay', { amount: 5 }))
    expect((await approvals.grants.list()).grants).toEqual([])
    expect(ran).toHaveLength(1)
  })

  test('does not revive one in another process that starts later', async () => {
    const clock = fakeClock(start)
    const store = open(clock)
    const first = await openApprovalsFixture({}, { clock, store })
    const { request_id } = requiredIn(await first.call('pay', { amount: 5 }))
    await first.approvals.decide(request_id, { approved: true }, owner)
    // No call arrives while it expires, so the process that created it records that the time has passed.
    await clock.advance(21 * minute)
    await settle()
    await first.server.close()
    clock.set(start)
    const second = await openApprovalsFixture({}, { clock, store })
    expect(await second.approvals.get(request_id)).toMatchObject({ status: 'expired' })
    requiredIn(await second.call('pay', { amount: 5 }))
    expect(second.ran).toEqual([])
  })

  test('leaves new tickets their full time', async () => {
    const clock = fakeClock(start)
    const { call, approvals, ran } = await openApprovalsFixture({}, { clock, store: open(clock) })
    requiredIn(await call('pay', { amount: 4 }))
    clock.set(start - hour)
    const { request_id } = requiredIn(await call('pay', { amount: 5 }))
    await clock.advance(9 * minute)
    await approvals.decide(request_id, { approved: true }, owner)
    await clock.advance(9 * minute)
    await call('pay', { amount: 5 })
    expect(ran).toHaveLength(1)
  })
})

/** A store that can be restored to an earlier state, under running processes. */
function restorable(clock: FakeClock): { readonly store: Store; save(): void; restore(): Promise<void> } {
  const folder = temporaryFolder()
  const [path, copy] = [join(folder, 'store.db'), join(folder, 'copy.db')]
  let current = sqliteStore(path, { clock })
  const store: Store = {
    get: (key) => current.get(key),
    set: (...args) => current.set(...args),
    swap: (...args) => current.swap(...args),
    delete: (key) => current.delete(key),
    take: (...args) => current.take(...args),
    append: (...args) => current.append(...args),
    list: (...args) => current.list(...args),
  }
  return {
    store,
    save: () => {
      copyFileSync(path, copy)
      copyFileSync(`${path}-wal`, `${copy}-wal`)
    },
    async restore() {
      await current.close()
      current = sqliteStore(copy, { clock })
    },
  }
}

test('a spent approval is not spent again after the store was restored under a running process', async () => {
  const clock = fakeClock(start)
  const { store, save, restore } = restorable(clock)
  const { call, approvals, ran } = await openApprovalsFixture({}, { clock, store })
  const { request_id } = requiredIn(await call('pay', { amount: 5 }))
  await approvals.decide(request_id, { approved: true }, owner)
  save()
  await call('pay', { amount: 5 })
  expect(ran).toHaveLength(1)
  await restore()
  expect(await approvals.get(request_id)).toMatchObject({ status: 'void' })
  requiredIn(await call('pay', { amount: 5 }))
  expect(ran).toHaveLength(1)
})

test('a revoked grant does not come back with a copy of the store', async () => {
  const clock = fakeClock(start)
  const { store, save, restore } = restorable(clock)
  const { call, approvals, ran } = await openApprovalsFixture({ grants: { maxMs: hour } }, { clock, store })
  const { request_id } = requiredIn(await call('pay', { amount: 5 }))
  const { id } = await approvals.grants.create(
    { ticket: request_id, arguments: 'exactly', durationMs: 10 * minute },
    operator,
  )
  save()
  await approvals.grants.revoke(id, operator)
  await call('pay', { amount: 5 })
  await restore()
  requiredIn(await call('pay', { amount: 5 }))
  expect(ran).toEqual([])
})
