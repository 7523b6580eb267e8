import { expect, test, vi } from 'vitest'
import type { Key, Store } from '../core/store.ts'
import { memoryStore } from '../stores/memory.ts'
import { fakeClock } from '../testing/clock.ts'
import { createChain } from './chain.ts'
import { readAllAudit, readAudit } from './chain-read.ts'
import { verifyAudit } from './chain-verify.ts'
import type { PruneOptions, PruneResult } from './prune.ts'
import { pruneAudit } from './prune.ts'
import { createRetention } from './retention.ts'

const secret = 'a secret of at least sixteen characters'
const secrets = (): readonly string[] => [secret]
const day = 86_400_000
const now = 100 * day

/** Writes one record a day since day 0, in rows of two. */
async function aChain(store: Store, days: number, tenant = 'acme'): Promise<void> {
  const append = createChain(store, tenant, 'me')
  for (let d = 0; d < days; d += 2)
    await append([d, d + 1].filter((each) => each < days).map((each) => ({ at: each * day, kind: 'test', day: each })))
}
const prune = (store: Store, options: Partial<PruneOptions>): Promise<PruneResult> =>
  pruneAudit(store, 'acme', { secrets, clock: fakeClock(now), writer: 'pruner', by: 'ann', ...options })
const verify = (store: Store, options = { secrets }): ReturnType<typeof verifyAudit> =>
  verifyAudit(store, 'acme', options)
const rows = async (store: Store): Promise<readonly string[]> =>
  (await store.list(['audit', 'rows', 'acme'], { limit: 1000 })).map(({ key }) => key.at(-1) ?? '')
const daysIn = async (store: Store): Promise<readonly unknown[]> => {
  const found: unknown[] = []
  for await (const { record } of readAllAudit(store, 'acme')) found.push(record['day'] ?? record['kind'])
  return found
}

test('records past their age are removed, the rest is verified across the cut, and the audit names the actor', async () => {
  const store = memoryStore(fakeClock())
  await aChain(store, 10)
  expect(await prune(store, { maxAgeMs: now - 5 * day })).toEqual({ removed: 4 })
  expect(await daysIn(store)).toEqual([4, 5, 6, 7, 8, 9, 'pruned'])
  expect((await readAudit(store, 'acme', { limit: 1 })).entries[0]?.record).toMatchObject({
    ...{ kind: 'pruned', records: 4, upTo: 4, by: 'ann', at: now },
  })
  expect(await verify(store)).toMatchObject({ intact: true, records: 7, checkpoint: { seq: 4, at: now } })
  // Once more, from there.
  expect(await prune(store, { maxAgeMs: now - 7 * day })).toEqual({ removed: 2 })
  expect(await verify(store)).toMatchObject({ intact: true, records: 6, checkpoint: { seq: 6 } })
})

test.each([
  ['verified', (store: Store) => verify(store), { intact: true, checkpoint: { seq: 150 } }],
  ['pruned by another process', (store: Store) => prune(store, { maxAgeMs: now - 180 * day }), { removed: 0 }],
])('rows that are pruned while they are %s are not reported as missing', async (_what, read, expected) => {
  const store = memoryStore(fakeClock())
  await aChain(store, 200)
  let isPruned = false
  const reading: Store = {
    ...store,
    async list(prefix, page) {
      // After the first page.
      if (!isPruned && page.after) {
        isPruned = true
        await prune(store, { maxAgeMs: now - 150 * day })
      }
      return store.list(prefix, page)
    },
  }
  const seen = await read(reading)
  expect(seen).toMatchObject(expected)
  expect(seen).not.toHaveProperty('refused')
  expect(isPruned).toBe(true)
})

test('records beyond the size are removed, oldest first, and the allowed number of bytes stays', async () => {
  const store = memoryStore(fakeClock())
  await aChain(store, 40)
  const sizes = (await store.list(['audit', 'rows', 'acme'], { limit: 100 })).map(({ value }) => value.length)
  const maxBytes = sizes.slice(-3).reduce((sum, size) => sum + size, 0)
  expect(await prune(store, { maxBytes })).toEqual({ removed: 34 })
  expect(await daysIn(store)).toEqual([34, 35, 36, 37, 38, 39, 'pruned'])
  expect(await verify(store)).toMatchObject({ intact: true, records: 7 })
  expect(await prune(store, { maxBytes: 10_000 })).toEqual({ removed: 0 })
})

test('the newest row stays however old it is, so that the chain continues from it', async () => {
  const store = memoryStore(fakeClock())
  await aChain(store, 4)
  expect(await prune(store, { maxAgeMs: 1 })).toEqual({ removed: 2 })
  expect(await daysIn(store)).toEqual([2, 3, 'pruned'])
  // A tenant that never calls again is not pruned because of its own records of pruning.
  expect(await prune(store, { maxAgeMs: 1 })).toEqual({ removed: 2 })
  expect(await prune(store, { maxAgeMs: 1 })).toEqual({ removed: 0 })
})

test('a page that reaches the cut is the last one', async () => {
  const store = memoryStore(fakeClock())
  await aChain(store, 10)
  await prune(store, { maxAgeMs: now - 5 * day })
  const newest = await readAudit(store, 'acme', { limit: 5 })
  expect(newest.before).toBe(7)
  const rest = await readAudit(store, 'acme', { before: newest.before, limit: 5 })
  expect(rest.entries.map(({ seq }) => seq)).toEqual([6, 5])
  expect(rest.before).toBeUndefined()
})

test('only a checkpoint signed with the secret can hide removed rows', async () => {
  const store = memoryStore(fakeClock())
  await aChain(store, 10)
  const other = memoryStore(fakeClock())
  await aChain(other, 10)
  await prune(other, { maxAgeMs: now - 5 * day, secrets: () => ['another secret of sixteen characters'] })
  const forged = (await other.get(['audit', 'checkpoints', 'acme'])) ?? expect.unreachable()
  for (const name of (await rows(store)).slice(0, 2)) await store.delete(['audit', 'rows', 'acme', name])
  expect(await verify(store)).toEqual({ intact: false, seq: 1, problem: 'missing' })
  for (const text of [forged, forged.replace(/^\S+ /, ' '), 'nonsense', '']) {
    await store.set(['audit', 'checkpoints', 'acme'], text)
    expect(await verify(store), text).toMatchObject({ intact: false, problem: 'unsigned' })
  }
  // Without the secret nothing can be verified.
  await prune(other, { force: true, maxAgeMs: now })
  expect(await verify(other, { secrets: () => [] })).toMatchObject({ intact: false, problem: 'unsigned' })
})

test('a checkpoint of another tenant, and an earlier one of this tenant, prove nothing', async () => {
  const store = memoryStore(fakeClock())
  await aChain(store, 10)
  await aChain(store, 10, 'other')
  await prune(store, { maxAgeMs: now - 3 * day })
  const key: Key = ['audit', 'checkpoints', 'acme']
  const earlier = (await store.get(key)) ?? expect.unreachable()
  await prune(store, { maxAgeMs: now - 7 * day })
  const later = (await store.get(key)) ?? expect.unreachable()
  await store.set(key, earlier)
  expect(await verify(store)).toEqual({ intact: false, seq: 3, problem: 'missing' })
  await store.set(['audit', 'checkpoints', 'other'], later)
  expect(await verifyAudit(store, 'other', { secrets })).toMatchObject({ intact: false, problem: 'unsigned' })
})

test('a change to the remaining records is detected and named across the cut', async () => {
  const store = memoryStore(fakeClock())
  await aChain(store, 10)
  await prune(store, { maxAgeMs: now - 5 * day })
  const [row] = await store.list(['audit', 'rows', 'acme'], { limit: 1 })
  await store.set(row?.key ?? [], row?.value.replace('"day":5', '"day":6') ?? '')
  expect(await verify(store)).toEqual({ intact: false, seq: 6, problem: 'altered' })
})

test('pruning does not hide a change: it refuses, or is forced and every later verdict names it', async () => {
  const store = memoryStore(fakeClock())
  await aChain(store, 10)
  const [, row] = await store.list(['audit', 'rows', 'acme'], { limit: 2 })
  await store.set(row?.key ?? [], row?.value.replace('"day":3', '"day":9') ?? '')
  const refused = { seq: 4, problem: 'altered' }
  expect(await prune(store, { maxAgeMs: now - 7 * day })).toEqual({ removed: 0, refused })
  expect(await rows(store)).toHaveLength(5)
  expect(await prune(store, { maxAgeMs: now - 7 * day, force: true })).toEqual({ removed: 6 })
  expect(await prune(store, { maxAgeMs: now - 9 * day })).toEqual({ removed: 2 })
  expect(await verify(store)).toMatchObject({ intact: true, checkpoint: { seq: 8, defect: refused } })
})

test('a crash at any write leaves a chain that verifies, and the next run finishes', async () => {
  for (let allowed = 0; ; allowed++) {
    const store = memoryStore(fakeClock())
    await aChain(store, 10)
    let remainingWrites = allowed
    const spend = (): void => {
      if (remainingWrites-- <= 0) throw new Error('crashed')
    }
    const dying: Store = {
      ...store,
      async swap(...args) {
        spend()
        return store.swap(...args)
      },
      async delete(key) {
        spend()
        return store.delete(key)
      },
    }
    const done = await prune(dying, { maxAgeMs: now - 5 * day }).catch(() => undefined)
    expect(await verify(store), `after ${allowed} writes`).toMatchObject({ intact: true })
    await prune(store, { maxAgeMs: now - 5 * day })
    expect(await verify(store)).toMatchObject({ intact: true, checkpoint: { seq: 4 } })
    expect((await rows(store))[0]).toBe('0000000000000005')
    if (done) return
  }
})

test('a writer that was idle while others wrote and pruned loses no record to the cut', async () => {
  const store = memoryStore(fakeClock())
  const idle = createChain(store, 'acme', 'idle')
  await idle([{ at: 0, kind: 'test', day: 'first' }])
  await aChain(store, 10)
  await prune(store, { maxAgeMs: now - 9 * day })
  const many = Array.from({ length: 30 }, (_, n) => ({ at: now, kind: 'test', day: `late ${n}` }))
  await idle(many)
  expect((await daysIn(store)).slice(-30)).toEqual(many.map(({ day }) => day))
  expect(await verify(store)).toMatchObject({ intact: true })
})

test('a checkpoint is signed again during the rotation of a secret', async () => {
  const store = memoryStore(fakeClock())
  await aChain(store, 10)
  const maxAgeMs = now - 5 * day
  await prune(store, { maxAgeMs })
  const fresh = 'the next secret of sixteen characters'
  expect(await prune(store, { maxAgeMs, secrets: () => [fresh, secret] })).toEqual({ removed: 0 })
  expect(await verify(store, { secrets: () => [fresh] })).toMatchObject({ intact: true })
})

test('retention prunes every tenant by its own limits, in one process of several, and reports failures', async () => {
  const clock = fakeClock(now)
  const store = memoryStore(clock)
  for (const tenant of ['acme', 'held', 'zeta']) await aChain(store, 10, tenant)
  await store.delete(['audit', 'rows', 'zeta', '0000000000000001'])
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }
  const retention = { maxAgeMs: now - 4.5 * day, tenants: { held: { maxAgeMs: 1000 * day } } }
  let made = 0
  const services = { store, clock, logger: log, secrets, reference: () => `ref-${made++}` }
  const several = [1, 2, 3].map(() => createRetention(retention, services))
  for (const each of several) each.start()
  await clock.advance(120_000)
  // Signing takes real time.
  await vi.waitFor(() => expect(log.error).toHaveBeenCalled())
  expect(log.info.mock.calls).toEqual([[{ event: 'audit_pruned', tenant: 'acme', records: 4 }]])
  expect(log.error.mock.calls).toEqual([[{ event: 'audit_prune_refused', tenant: 'zeta', seq: 1, problem: 'missing' }]])
  await vi.waitFor(async () => {
    await clock.advance(2 * day)
    expect(log.info.mock.calls.length).toBeGreaterThan(1)
  })
  await Promise.all(several.map((each) => each.close()))
  expect(clock.pending).toBe(0)
})

test('retention reaches every tenant of ten thousand and more', async () => {
  const clock = fakeClock(now)
  const store = memoryStore(clock)
  for (let i = 0; i < 10_000; i++) await store.set(['audit', 'heads', `a${i}`], '')
  await aChain(store, 10, 'zeta')
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }
  const retention = createRetention({ maxAgeMs: now - 4.5 * day }, { store, clock, logger: log, secrets })
  retention.start()
  await clock.advance(120_000)
  await vi.waitFor(
    () => expect(log.info.mock.calls).toEqual([[{ event: 'audit_pruned', tenant: 'zeta', records: 4 }]]),
    10_000,
  )
  await retention.close()
})
