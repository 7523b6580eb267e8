import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Call } from '../core/call.ts'
import { anonymous } from '../core/call.ts'
import type { RpcError } from '../core/error.ts'
import { memoryStore } from '../stores/memory.ts'
import { aCall, asyncPipeline } from '../testing/call.ts'
import { fakeClock } from '../testing/clock.ts'
import type { RateLimitOptions } from './rate-limit.ts'
import { rateLimitLayer } from './rate-limit.ts'

function make(options: RateLimitOptions = { burst: 1, perSecond: 1 }) {
  const clock = fakeClock()
  const store = memoryStore(clock)
  return {
    clock,
    serve: asyncPipeline([rateLimitLayer(options, 'a-server', store.take)], async () => ({ content: [] })),
  }
}
const by = (subject: string, more: Partial<Call> = {}): Call =>
  aCall({ caller: { ...anonymous, subject, credential: 'jwt' }, ...more })
const at = (call: Call, target: Partial<Call['target']>): Call => ({ ...call, target: { ...call.target, ...target } })
const outcome = (served: Promise<unknown>): Promise<string> =>
  served.then(
    () => 'ok',
    (thrown: RpcError) => thrown.reason,
  )

test('a caller beyond the limit gets the time to wait, as text and as a number, and is served after it', async () => {
  const { clock, serve } = make()
  await serve(by('ann'))
  await expect(serve(by('ann'))).rejects.toMatchObject({
    reason: 'rateLimited',
    message: 'Too many calls of a-tool: wait 1 s, then try again',
    data: { retryAfterMs: 1000 },
  })
  await clock.advance(1000)
  await expect(serve(by('ann'))).resolves.toEqual({ content: [] })
})

test('another caller, another tenant and another target have separate buckets', async () => {
  const { serve } = make()
  const call = by('ann')
  const others = [
    by('bob'),
    { ...call, tenant: { ...call.tenant, id: 'other' } },
    at(call, { name: 'other' }),
    at(call, { kind: 'prompt' }),
  ]
  expect(await outcome(serve(call))).toBe('ok')
  for (const other of others) expect(await outcome(serve(other))).toBe('ok')
  for (const again of [call, ...others]) expect(await outcome(serve(again))).toBe('rateLimited')
})

test('unknown names, tools without the scopes and tools of other tenants share one bucket and one text', async () => {
  const policy = { ...aCall().target.policy, scopes: ['s'] }
  const hidden = [
    at(by('ann'), { kind: 'unknown', name: 'unknown' }),
    at(by('ann'), { name: 'secret', policy }),
    { ...by('ann'), tenant: { ...by('ann').tenant, tools: new Set<string>() } },
  ]
  for (const first of hidden) {
    const { serve } = make({ burst: 1, perSecond: 1, tools: { secret: { burst: 9, perSecond: 9 } } })
    await serve(first)
    const texts = await Promise.all(hidden.map((call) => serve(call).catch((thrown: RpcError) => thrown.message)))
    expect(new Set(texts)).toEqual(new Set(['Too many calls: wait 1 s, then try again']))
  }
})

test('a tool can have its own bucket, and only a tool', async () => {
  const { serve } = make({ burst: 1, perSecond: 1, tools: { 'a-tool': { burst: 2, perSecond: 1 } } })
  const outcomes = []
  for (let i = 0; i < 3; i++) outcomes.push(await outcome(serve(by('ann'))))
  expect(outcomes).toEqual(['ok', 'ok', 'rateLimited'])
  await serve(at(by('ann'), { kind: 'prompt' }))
  expect(await outcome(serve(at(by('ann'), { kind: 'prompt' })))).toBe('rateLimited')
})

test('a tool named like an inherited property gets the default bucket', async () => {
  const { serve } = make()
  const call = at(by('ann'), { name: 'constructor' })
  await serve(call)
  expect(await outcome(serve(call))).toBe('rateLimited')
})

test('unauthenticated callers are told apart by address, and an IPv6 network is one address', async () => {
  const { serve } = make()
  const from = (peer: string): Call => aCall({ via: { transport: 'http', peer, header: () => undefined } })
  await serve(from('192.0.2.1'))
  await serve(from('2001:db8:1:2::1'))
  expect(await outcome(serve(from('192.0.2.2')))).toBe('ok')
  expect(await outcome(serve(from('192.0.2.1')))).toBe('rateLimited')
  expect(await outcome(serve(from('2001:db8:1:2:ffff::9')))).toBe('rateLimited')
  expect(await outcome(serve(by('192.0.2.1')))).toBe('ok')
})

test.each([
  { burst: 0.5, perSecond: 1 },
  { burst: 1, perSecond: 0 },
  { burst: Number.NaN, perSecond: 1 },
])('a bucket of %o is refused, because it would refuse every call for ever', (bucket) => {
  expect(() => make(bucket)).toThrow(TypeError)
  expect(() => make({ tools: { x: bucket } })).toThrow('tools.x')
})

test('in any window and schedule, no more calls pass than the burst and the rate allow', async () => {
  const bucket = fc.record({ burst: fc.integer({ min: 1, max: 20 }), perSecond: fc.integer({ min: 1, max: 50 }) })
  await fc.assert(
    fc.asyncProperty(bucket, fc.array(fc.nat(400), { maxLength: 60 }), async (rate, gaps) => {
      const { clock, serve } = make(rate)
      const passed: number[] = []
      for (const gap of gaps) {
        await clock.advance(gap)
        if ((await outcome(serve(by('ann')))) === 'ok') passed.push(clock.now())
      }
      for (let from = 0; from < passed.length; from++)
        for (let to = from; to < passed.length; to++) {
          const seconds = ((passed[to] ?? 0) - (passed[from] ?? 0)) / 1000
          expect(to - from + 1).toBeLessThanOrEqual(rate.burst + rate.perSecond * seconds + 1e-6)
        }
    }),
  )
})

test('a caller that waits as long as requested is served: the rate is a promise, not only a bound', async () => {
  const bucket = fc.record({ burst: fc.integer({ min: 1, max: 5 }), perSecond: fc.integer({ min: 1, max: 300 }) })
  await fc.assert(
    fc.asyncProperty(bucket, async (rate) => {
      const { clock, serve } = make(rate)
      let passed = 0
      for (let i = 0; i < 40; i++) {
        const waitMs = await serve(by('ann')).then(
          () => 0,
          (thrown: RpcError) => Number(thrown.data['retryAfterMs']),
        )
        if (waitMs === 0) passed++
        else {
          await clock.advance(waitMs)
          expect(await outcome(serve(by('ann')))).toBe('ok')
          passed++
        }
      }
      expect(passed).toBe(40)
      // Waits are in whole milliseconds, so each may be that much longer than necessary.
      expect(clock.now()).toBeLessThanOrEqual((40 / rate.perSecond) * 1000 + 40)
    }),
  )
})
