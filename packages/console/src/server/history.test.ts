/** The last day by the minute, written by several processes into one store. */

import type { Store } from 'sluice'
import { memoryStore } from 'sluice'
import { aCall, fakeClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import type { History } from './history.ts'
import { createHistory } from './history.ts'
import { createLiveStats } from './live-stats.ts'

interface Process {
  readonly history: History
  call(tenant: string, more?: { outcome?: 'complete' | 'approval_required' | 'rateLimited'; durationMs?: number }): void
}

const minute = 60_000
/** A clock at the beginning of a minute, so that each test knows which calls are together. */
const clockAtMinute = (): ReturnType<typeof fakeClock> => fakeClock(30_000_000 * minute)

function aProcess(store: Store, clock: ReturnType<typeof fakeClock>, server = 'shop'): Process {
  const live = createLiveStats(clock)
  return {
    history: createHistory({ store, clock, live, logger: { info() {}, warn() {}, error() {} } }),
    call(tenant, { outcome = 'complete', durationMs = 5 } = {}) {
      const call = aCall({ facts: { tenant } })
      const failed = outcome === 'rateLimited'
      live.recordCall(server, { call, outcome, failed, durationMs, receivedAt: clock.now(), thrown: undefined })
    },
  }
}
const everything = { tenants: [] }

test('the minutes of all processes are summed', async () => {
  const clock = clockAtMinute()
  const store = memoryStore(clock)
  const [one, two] = [aProcess(store, clock), aProcess(store, clock)]
  one.call('acme', { durationMs: 10 })
  one.call('acme', { outcome: 'approval_required' })
  two.call('acme', { outcome: 'rateLimited' })
  await two.history.read(everything)
  await clock.advance(minute)
  one.call('acme')
  const { minutes, processes } = await one.history.read(everything)
  expect(processes).toBe(2)
  expect(minutes).toMatchObject([
    { calls: 3, errors: 1, shed: 1, waiting: 1, p50: expect.any(Number) },
    { calls: 1, errors: 0, shed: 0, waiting: 0 },
  ])
  expect((minutes[1]?.at ?? 0) - (minutes[0]?.at ?? 0)).toBe(minute)
})

test('a filter by server, tenant or the tenants of an operator leaves the others out', async () => {
  const clock = clockAtMinute()
  const store = memoryStore(clock)
  const [shop, desk] = [aProcess(store, clock), aProcess(store, clock, 'desk')]
  shop.call('acme')
  shop.call('globex')
  desk.call('globex')
  await desk.history.read(everything)
  const calls = async (filter: Parameters<History['read']>[0]): Promise<number> =>
    (await shop.history.read(filter)).minutes.reduce((sum, each) => sum + each.calls, 0)
  expect(await calls(everything)).toBe(3)
  expect(await calls({ tenants: ['acme'] })).toBe(1)
  expect(await calls({ tenants: ['acme'], tenant: 'globex' })).toBe(0)
  expect(await calls({ tenants: [], server: 'desk' })).toBe(1)
  expect(await shop.history.read({ tenants: ['other'] })).toEqual({ minutes: [], processes: 0 })
})

test('a process writes by itself once a minute, and the rest when it closes', async () => {
  const clock = clockAtMinute()
  const store = memoryStore(clock)
  const [one, other] = [aProcess(store, clock), aProcess(store, clock)]
  const calls = async (): Promise<number> =>
    (await other.history.read(everything)).minutes.reduce((sum, each) => sum + each.calls, 0)
  one.history.start()
  one.call('acme')
  expect(await calls()).toBe(0)
  await clock.advance(minute)
  await expect.poll(calls).toBe(1)
  one.call('acme')
  expect(await calls()).toBe(1)
  await one.history.close()
  expect(await calls()).toBe(2)
})

test('a minute is gone after a day, and a minute without calls is not written', async () => {
  const clock = clockAtMinute()
  const store = memoryStore(clock)
  const { history, call } = aProcess(store, clock)
  call('acme')
  await history.read(everything)
  const entries = async (): Promise<number> => (await store.list(['console', 'history'], { limit: 10 })).length
  expect(await entries()).toBe(1)
  await clock.advance(23 * 60 * minute)
  expect((await history.read(everything)).minutes).toHaveLength(1)
  await clock.advance(2 * 60 * minute)
  expect((await history.read(everything)).minutes).toEqual([])
  expect(await entries()).toBe(0)
})

test('more tenants than fit into an entry are counted together, and only for operators of all tenants', async () => {
  const clock = clockAtMinute()
  const { history, call } = aProcess(memoryStore(clock), clock)
  for (let at = 0; at < 120; at++) {
    // The live page keeps at most 64 of them per second.
    if (at % 40 === 0) await clock.advance(1000)
    call(`tenant-${at}`)
  }
  expect((await history.read(everything)).minutes).toMatchObject([{ calls: 120 }])
  expect((await history.read({ tenants: ['tenant-0'] })).minutes).toMatchObject([{ calls: 1 }])
  expect((await history.read({ tenants: ['tenant-119'] })).minutes).toEqual([])
})
