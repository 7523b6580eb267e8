import type { EndedCall } from 'sluice/extend'
import { aCall, fakeClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import type { LiveStats } from './live-stats.ts'
import { createLiveStats } from './live-stats.ts'

const start = 1_000_000_000

function setUp(): {
  readonly live: LiveStats
  readonly clock: ReturnType<typeof fakeClock>
  pass(overrides?: CallOverrides): void
} {
  const clock = fakeClock(start)
  const live = createLiveStats(clock)
  return {
    live,
    clock,
    pass({ server = 'shop', tenant = 'acme', tool = 'price', durationMs = 10, ...overrides } = {}) {
      const call = aCall({ facts: { tenant, caller: 'ann' } })
      const event: EndedCall = {
        call: { ...call, target: { ...call.target, name: tool } },
        outcome: overrides.outcome ?? 'complete',
        failed: overrides.failed ?? false,
        receivedAt: clock.now(),
        durationMs,
        thrown: undefined,
      }
      live.recordCall(server, event)
    },
  }
}
interface CallOverrides {
  readonly server?: string
  readonly tenant?: string
  readonly tool?: string
  readonly outcome?: EndedCall['outcome']
  readonly failed?: boolean
  readonly durationMs?: number
}

test('returns the newest requests, newest last, and counts the others', () => {
  const { live, pass } = setUp()
  for (let at = 0; at < 5; at++) pass({ tool: `t${at}` })
  const { requests, missed } = live.requestsSince(1, {}, 3)
  expect(requests.map(({ tool, seq }) => [tool, seq])).toEqual([
    ['t2', 3],
    ['t3', 4],
    ['t4', 5],
  ])
  expect(missed).toBe(1)
  expect(live.requestsSince(5, {}, 3)).toEqual({ requests: [], missed: 0 })
})

test('a filter applies to requests and to seconds', async () => {
  const { live, clock, pass } = setUp()
  pass()
  pass({ server: 'bank' })
  pass({ tenant: 'other', tool: 'refund' })
  pass({ outcome: 'rateLimited', failed: true })
  await clock.advance(1000)
  const counted = (filter: Parameters<LiveStats['requestsSince']>[1]): readonly number[] => [
    live.requestsSince(0, filter, 100).requests.length,
    live.seconds(filter).at(-1)?.calls ?? 0,
  ]
  expect(counted({})).toEqual([4, 4])
  expect(counted({ server: 'bank' })).toEqual([1, 1])
  expect(counted({ tenant: 'other' })).toEqual([1, 1])
  expect(counted({ tool: 'refund' })).toEqual([1, 1])
  expect(counted({ tenants: ['acme'] })).toEqual([3, 3])
  expect(counted({ tenant: 'other', tenants: ['acme'] })).toEqual([0, 0])
  expect(live.requestsSince(0, { outcome: 'shed' }, 100).requests).toHaveLength(1)
  expect(live.requestsSince(0, { outcome: 'failed' }, 100).requests).toHaveLength(1)
  expect(live.requestsSince(0, { outcome: 'ok' }, 100).requests).toHaveLength(3)
})

test('a second has the number of calls, errors and shed calls, and the latencies', async () => {
  const { live, clock, pass } = setUp()
  for (let ms = 1; ms <= 100; ms++) pass({ durationMs: ms })
  pass({ outcome: 'overloaded', failed: true, durationMs: 0 })
  await clock.advance(1000)
  const second = live.seconds({}).at(-1)
  expect(second).toMatchObject({ at: start, calls: 101, errors: 1, shed: 1 })
  expect(second?.p50).toBeGreaterThan(40)
  expect(second?.p50).toBeLessThan(60)
  expect(second?.p99).toBeGreaterThan(80)
  expect(second?.p99).toBeLessThan(121)
})

test('the current second is left out, and a second without calls is included', async () => {
  const { live, clock, pass } = setUp()
  pass()
  expect(live.seconds({}).at(-1)?.calls).toBe(0)
  await clock.advance(3000)
  expect(live.seconds({}, start / 1000 - 1).map(({ calls }) => calls)).toEqual([1, 0, 0])
  expect(live.seconds({}).at(-1)).not.toHaveProperty('p50')
})

test('memory does not grow with the number of calls', async () => {
  const { live, clock, pass } = setUp()
  for (let at = 0; at < 5000; at++) pass({ tenant: `tenant-${at}`, tool: `tool-${at}` })
  await clock.advance(1000)
  expect(live.requestsSince(0, {}, 10_000).requests).toHaveLength(2000)
  expect(live.seconds({}).at(-1)?.calls).toBe(5000)
  expect(live.tenants(60).size).toBeLessThan(100)
  await clock.advance(301_000)
  expect(live.tenants(60).size).toBe(0)
  expect(live.seconds({}).every(({ calls }) => calls === 0)).toBe(true)
})

test('returns the usage of the last minute by tenant, and the totals since the start by tool', async () => {
  const { live, clock, pass } = setUp()
  pass()
  await clock.advance(61_000)
  pass({ outcome: 'rateLimited', failed: true })
  pass({ tenant: 'other' })
  expect(live.tenants(60).get('acme')).toMatchObject({ calls: 1, errors: 1, limited: 1 })
  expect(live.totals('shop', 'price', [])).toEqual({ calls: 3, errors: 1 })
  expect(live.totals('shop', 'price', ['other'])).toEqual({ calls: 1, errors: 0 })
  expect(live.totals('bank', 'price', [])).toEqual({ calls: 0, errors: 0 })
})

test('lists rejected messages without a tenant', async () => {
  const { live, clock } = setUp()
  live.recordRejection('shop', { event: 'refused', reason: 'parseError', transport: 'http', message: 'Parse error' })
  await clock.advance(1000)
  expect(live.requestsSince(0, {}, 10).requests).toMatchObject([
    { outcome: 'parseError', failed: true, message: 'Parse error' },
  ])
  expect(live.seconds({}).at(-1)).toMatchObject({ calls: 1, errors: 1, shed: 0 })
  expect(live.requestsSince(0, { tenants: ['acme'] }, 10).requests).toEqual([])
})
