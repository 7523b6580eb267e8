/**
 * Overload and noisy neighbours, simulated: a tool that takes 20 ms, and an open loop of arrivals on a fake clock, so
 * that the figures are exact and the same on every machine.
 */

import { expect, test } from 'vitest'
import type { Call, Handler } from '../../packages/sluice/src/core/call.ts'
import { anonymous } from '../../packages/sluice/src/core/call.ts'
import { RpcError } from '../../packages/sluice/src/core/error.ts'
import { silentLogger } from '../../packages/sluice/src/core/log.ts'
import { concurrencyLayer } from '../../packages/sluice/src/layers/concurrency.ts'
import { rateLimitLayer } from '../../packages/sluice/src/layers/rate-limit.ts'
import { takeWithFallback } from '../../packages/sluice/src/layers/shared-bucket.ts'
import { timeoutLayer } from '../../packages/sluice/src/layers/timeout.ts'
import { memoryStore } from '../../packages/sluice/src/stores/memory.ts'
import { aCall, asyncPipeline } from '../../packages/sluice/src/testing/call.ts'
import type { FakeClock } from '../../packages/sluice/src/testing/clock.ts'
import { fakeClock } from '../../packages/sluice/src/testing/clock.ts'
import { createAdmissionControl } from '../../packages/sluice/src/transports/http/admission.ts'

const workMs = 20
const work =
  (clock: FakeClock): Handler =>
  () =>
    new Promise((resolve) => clock.after(workMs, () => resolve({ content: [] })))

const of = (tenant: string): Call => {
  const call = aCall({ caller: { ...anonymous, subject: `user of ${tenant}`, credential: 'jwt' } })
  return { ...call, tenant: { ...call.tenant, id: tenant } }
}

interface LoadCounts {
  sent: number
  /** The duration of each answered call. */
  readonly took: number[]
  /** The duration of each refusal. */
  readonly refused: number[]
}

/** Sends `perMs` calls of each tenant every millisecond for `forMs`, and waits for the last of them. */
async function offer(
  clock: FakeClock,
  serve: (call: Call) => Promise<unknown>,
  perMs: { readonly [tenant: string]: number },
  forMs: number,
): Promise<{ readonly [tenant: string]: LoadCounts }> {
  const tallies = Object.fromEntries(
    Object.keys(perMs).map((tenant): [string, LoadCounts] => [tenant, { sent: 0, took: [], refused: [] }]),
  )
  for (let ms = 1; ms <= forMs; ms++) {
    for (const [tenant, tally] of Object.entries(tallies))
      while (tally.sent < ms * (perMs[tenant] ?? 0)) {
        tally.sent++
        const at = clock.now()
        serve(of(tenant)).then(
          () => tally.took.push(clock.now() - at),
          () => tally.refused.push(clock.now() - at),
        )
      }
    await clock.advance(1)
  }
  await clock.advance(5_000)
  return tallies
}
const worst = (times: readonly number[]): number => times.reduce((a, b) => Math.max(a, b), 0)

/** Admission control before the layers, as in HTTP. */
function gated(clock: FakeClock, slots: number, inner: Handler): (call: Call) => Promise<unknown> {
  const gate = createAdmissionControl({ concurrency: slots }, { clock })
  return async (call) => {
    const admission = await gate.admit({ method: 'POST', peer: '192.0.2.1', header: () => undefined })
    if (admission instanceof RpcError) throw admission
    try {
      return await inner(call)
    } finally {
      admission.release()
    }
  }
}

test('at ten times its capacity admission keeps the full goodput, refuses at once, and no admitted call waits twice as long', async () => {
  const clock = fakeClock()
  // Ten slots of 20 ms serve half a call per millisecond.
  const serve = gated(clock, 10, work(clock))
  const { a } = await offer(clock, serve, { a: 5 }, 1_000)
  expect(a?.took.length).toBeGreaterThanOrEqual(0.8 * 500)
  expect(worst(a?.took ?? [])).toBeLessThanOrEqual(2 * workMs)
  expect(worst(a?.refused ?? [])).toBe(0)
  expect((a?.took.length ?? 0) + (a?.refused.length ?? 0)).toBe(a?.sent)
})

test('the same for the slots of one tenant', async () => {
  const clock = fakeClock()
  const serve = asyncPipeline([timeoutLayer(clock), concurrencyLayer({ perTenant: 10 })], work(clock))
  const { a } = await offer(clock, serve, { a: 5 }, 1_000)
  expect(a?.took.length).toBeGreaterThanOrEqual(0.8 * 500)
  expect(worst(a?.took ?? [])).toBeLessThanOrEqual(2 * workMs)
  expect((a?.took.length ?? 0) + (a?.refused.length ?? 0)).toBe(a?.sent)
})

test("a tenant at fifty times its quota gets its quota; its neighbour's calls all succeed, as fast as alone", async () => {
  const quota = { burst: 20, perSecond: 100 }
  const run = async (perMs: { readonly [tenant: string]: number }) => {
    const clock = fakeClock()
    const store = memoryStore(clock)
    const take = takeWithFallback({ store, local: store, clock, logger: silentLogger })
    const layers = [
      rateLimitLayer({ ...quota }, 'a-server', take),
      timeoutLayer(clock),
      concurrencyLayer({ perTenant: 8 }),
    ]
    return offer(clock, gated(clock, 40, asyncPipeline(layers, work(clock))), perMs, 1_000)
  }
  const alone = await run({ b: 0.09 })
  const { a, b } = await run({ a: 5, b: 0.09 })
  expect(b?.refused).toEqual([])
  expect(b?.took.length).toBe(b?.sent)
  expect(worst(b?.took ?? [])).toBeLessThanOrEqual(2 * worst(alone['b']?.took ?? []))
  expect(a?.took.length).toBeLessThanOrEqual(quota.burst + quota.perSecond + 1)
  expect(a?.took.length).toBeGreaterThanOrEqual(quota.perSecond * 0.8)
})

test('without quotas too: separate slots keep a tenant going beside one that sends a hundred times as much', async () => {
  const clock = fakeClock()
  const layers = [timeoutLayer(clock), concurrencyLayer({ perTenant: 8, tools: { 'a-tool': 12 } })]
  const { a, b } = await offer(clock, gated(clock, 40, asyncPipeline(layers, work(clock))), { a: 10, b: 0.1 }, 1_000)
  expect(b?.refused).toEqual([])
  expect(worst(b?.took ?? [])).toBeLessThanOrEqual(2 * workMs)
  expect(a?.took.length).toBeGreaterThanOrEqual(0.8 * 8 * (1000 / workMs))
})

test('a store that stops answering loosens the limit and delays no call by more than 250 ms', async () => {
  const clock = fakeClock()
  const shared = memoryStore(clock)
  let away = false
  let asked = 0
  const store = {
    ...shared,
    take: (...args: Parameters<typeof shared.take>) => {
      if (away) asked++
      return away ? new Promise<never>(() => {}) : shared.take(...args)
    },
  }
  const take = takeWithFallback({ store, local: memoryStore(clock), clock, logger: silentLogger })
  const quota = { burst: 10, perSecond: 100 }
  const serve = asyncPipeline([rateLimitLayer({ ...quota }, 'a-server', take), timeoutLayer(clock)], work(clock))
  const before = await offer(clock, serve, { a: 1 }, 1_000)
  away = true
  const during = await offer(clock, serve, { a: 1 }, 3_000)
  away = false
  await clock.advance(2_000)
  const after = await offer(clock, serve, { a: 1 }, 1_000)
  expect(before['a']?.took.length).toBeLessThanOrEqual(111)
  expect(during['a']?.took.length).toBeLessThanOrEqual(10 + 300 + 1)
  expect(during['a']?.took.length).toBeGreaterThanOrEqual(200)
  expect(worst(during['a']?.took ?? [])).toBeLessThanOrEqual(250 + workMs)
  expect(asked).toBeLessThanOrEqual(260)
  expect(after['a']?.took.length).toBeLessThanOrEqual(10 + 100 + 11)
})
