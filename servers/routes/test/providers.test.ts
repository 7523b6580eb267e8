import { fakeClock } from 'sluice/testing'
import { expect, onTestFinished, test } from 'vitest'
import { RouteError } from '../src/failure.ts'
import { providerFrom } from '../src/providers/from-environment.ts'
import { osrm } from '../src/providers/osrm.ts'
import { tomtom } from '../src/providers/tomtom.ts'
import type { Provider } from '../src/route.ts'
import type { UpstreamOptions } from '../src/upstream.ts'
import { createUpstream } from '../src/upstream.ts'
import type { Double } from './providers.fixture.ts'
import { osrmDouble, tomtomDouble } from './providers.fixture.ts'
import { atlas, codesOf, openRoutes, places, textOf } from './server.fixture.ts'

const key = 'a-secret-key'
const quick: UpstreamOptions = { deadlineMs: 20_000, backoffMs: 1, perSecond: 1000 }
const clock = fakeClock()
const there = { origin: 'Huế', destination: 'Đà Nẵng', language: 'en' }

async function opened(which: 'osrm' | 'tomtom', options: UpstreamOptions = quick) {
  const double: Double = await (which === 'osrm' ? osrmDouble() : tomtomDouble())
  onTestFinished(() => double.close())
  const upstream = createUpstream(clock, options)
  const provider: Provider =
    which === 'osrm' ? osrm(double.url, upstream, places) : tomtom({ key, baseUrl: double.url }, upstream)
  return { double, ...(await openRoutes({ provider })) }
}
const each = ['osrm', 'tomtom'] as const

test('OSRM: its route as steps, measured, with place names from the offline list', async () => {
  const { call, double } = await opened('osrm')
  const answer = await call('calculate_route', { ...there, alternatives: 2, travel_mode: 'bicycle' })
  expect(textOf(answer)).toMatch(/101 km|102 km/)
  expect(textOf(answer)).toContain('1. Set off – QL1 Quốc lộ 1 (100 km')
  expect(textOf(answer)).toContain('2. Turn left – Bạch Đằng')
  expect(textOf(answer)).not.toContain('approximate')
  expect(double.requests[0]?.pathname).toMatch(/^\/route\/v1\/cycling\/107\.\d+,16\.\d+;108\.\d+,16\.\d+$/)
  expect(Object.fromEntries(double.requests[0]?.searchParams ?? [])).toMatchObject({
    alternatives: '2',
    geometries: 'geojson',
    steps: 'true',
  })
})

test('TomTom: its places, route and traffic', async () => {
  const { call, double } = await opened('tomtom')
  const answer = await call('get_route_with_traffic', { ...there, depart_at: '2026-11-16T08:00:00+07:00' })
  expect(textOf(answer)).toContain('Traffic delay: 9 min')
  expect(textOf(answer)).toContain('1. Leave from Huế (100 km, 1 h 35 min)')
  expect(double.requests.map(({ pathname }) => decodeURIComponent(pathname))).toEqual(
    expect.arrayContaining([
      '/search/2/geocode/Huế.json',
      '/routing/1/calculateRoute/16.4619,107.5955:16.068,108.221/json',
    ]),
  )
  const routed = double.requests.at(-1)?.searchParams
  expect(Object.fromEntries(routed ?? [])).toMatchObject({
    key,
    travelMode: 'car',
    traffic: 'true',
    departAt: '2026-11-16T08:00:00+07:00',
  })
})

test('a name is geocoded once', async () => {
  const { call, double } = await opened('tomtom')
  await call('calculate_route', there)
  await call('calculate_route', there)
  expect(double.requests.filter(({ pathname }) => pathname.startsWith('/search/'))).toHaveLength(2)
})

test.each(each)('%s: a temporary failure is retried, and the caller does not notice it', async (which) => {
  for (const fault of [{ status: 503 }, { status: 500 }, 'cut', 'hang'] as const) {
    const { call, double } = await opened(which, fault === 'hang' ? { ...quick, deadlineMs: 500 } : quick)
    double.faults.push(fault)
    expect(await call('calculate_route', there), JSON.stringify(fault)).toMatchObject({ isError: false })
    expect(double.requests.length).toBeGreaterThan(which === 'osrm' ? 1 : 3)
  }
})

test.each(each)('%s: a lasting failure is a system error, with when to retry, and without the key', async (which) => {
  const { call, double, lines } = await opened(which)
  double.faults.push(...Array.from({ length: 8 }, () => ({ status: 503, body: { error: `bad ${key}` } })))
  const answer = await call('calculate_route', there)
  expect(answer).toMatchObject({
    isError: true,
    structuredContent: { type: 'SYSTEM_ERROR', errors: [{ code: 'PROVIDER_UNAVAILABLE' }], retry_after: 120 },
  })
  expect(JSON.stringify([answer, lines])).not.toContain(key)
})

test('an answer in another format is a system error, not a user error', async () => {
  const { call, double } = await opened('osrm')
  double.faults.push({ status: 200, body: { routes: 'many' } })
  expect(codesOf(await call('calculate_route', there))).toEqual(['PROVIDER_UNAVAILABLE'])
})

test('after ten consecutive failures the provider is not called', async () => {
  const { call, double } = await opened('osrm', { ...quick, retries: 0 })
  double.faults.push(...Array.from({ length: 20 }, () => ({ status: 500 })))
  for (let i = 0; i < 12; i++) await call('calculate_route', there)
  expect(double.requests).toHaveLength(10)
})

test("a rejected key is reported as the operator's task", async () => {
  const { call, double } = await opened('tomtom')
  double.faults.push(
    { status: 403, body: { error: `key ${key} is bad` } },
    { status: 403, body: { error: `key ${key} is bad` } },
  )
  const answer = await call('calculate_route', there)
  expect(codesOf(answer)).toEqual(['PROVIDER_REFUSED'])
  expect(JSON.stringify(answer)).not.toContain(key)
})

test('too many requests: the caller is told when to retry', async () => {
  const { call, double } = await opened('osrm', { ...quick, retries: 0 })
  double.faults.push({ status: 429, headers: { 'retry-after': '7' } })
  expect((await call('calculate_route', there)).structuredContent).toMatchObject({
    errors: [{ code: 'PROVIDER_BUSY' }],
    retry_after: 7,
  })
})

test('our own rate limit to the provider holds over all callers: the others wait', async () => {
  const { call, double } = await opened('osrm', { ...quick, perSecond: 2 })
  const answers = Promise.all(Array.from({ length: 5 }, () => call('calculate_route', there)))
  await expect.poll(() => double.requests.length).toBe(2)
  await clock.advance(500)
  await expect.poll(() => double.requests.length).toBe(3)
  await clock.advance(1000)
  expect((await answers).map(({ isError }) => isError)).toEqual(Array(5).fill(false))
  expect(double.requests).toHaveLength(5)
})

test('eleven new place names in one route wait for the rate limit instead of failing', async () => {
  const { call, double } = await opened('tomtom', { ...quick, perSecond: 10 })
  const waypoints = Array.from({ length: 9 }, (_, n) => `Stop ${n}`)
  const answer = call('calculate_route', { ...there, waypoints })
  await expect.poll(() => double.requests.length).toBe(10)
  await clock.advance(1000)
  expect((await answer).isError).toBe(false)
  expect(double.requests).toHaveLength(12)
})

test('more requests than ten seconds of the rate limit are told when to retry', async () => {
  const double = await osrmDouble()
  onTestFinished(() => double.close())
  const upstream = createUpstream(clock, { ...quick, perSecond: 1 })
  const stop = new AbortController()
  const asked = Array.from({ length: 12 }, () =>
    upstream.get(new URL(double.url), stop.signal).then(
      () => 'answered',
      (thrown: unknown) => (thrown instanceof RouteError ? thrown.failure.code : 'cancelled'),
    ),
  )
  await expect.poll(() => double.requests.length).toBe(1)
  stop.abort()
  const ends = await Promise.all(asked)
  expect(ends.filter((end) => end === 'PROVIDER_BUSY').length).toBeGreaterThanOrEqual(1)
  expect(ends.filter((end) => end === 'cancelled').length).toBeGreaterThanOrEqual(9)
})

test('callers that cancel do not open the circuit breaker for the others', async () => {
  const double = await osrmDouble()
  onTestFinished(() => double.close())
  const upstream = createUpstream(clock, { ...quick, retries: 0 })
  for (let n = 0; n < 12; n++) {
    double.faults.push('hang')
    const stop = new AbortController()
    const asking = upstream.get(new URL(double.url), stop.signal)
    await expect.poll(() => double.requests.length).toBe(n + 1)
    stop.abort(new Error('not wanted any more'))
    await expect(asking).rejects.toThrow('not wanted any more')
  }
  expect(await upstream.get(new URL(double.url), new AbortController().signal)).toMatchObject({ status: 200 })
})

test('a missing route and an unknown place are user errors, with either provider', async () => {
  const osrmSide = await opened('osrm')
  osrmSide.double.faults.push({ status: 400, body: { code: 'NoRoute', message: 'Impossible route between points' } })
  expect(codesOf(await osrmSide.call('calculate_route', there))).toEqual(['NO_ROUTE_FOUND'])
  const tomtomSide = await opened('tomtom')
  expect(codesOf(await tomtomSide.call('geocode_address', { address: 'nowhere' }))).toEqual(['PLACE_NOT_FOUND'])
  await tomtomSide.call('calculate_route', there)
  tomtomSide.double.faults.push({
    status: 400,
    body: {
      formatVersion: '0.0.12',
      error: { description: 'no' },
      detailedError: { code: 'NO_ROUTE_FOUND', message: 'no' },
    },
  })
  expect(codesOf(await tomtomSide.call('calculate_route', there))).toEqual(['NO_ROUTE_FOUND'])
})

test('of more than thirty steps the first and the last are shown, all are in the resource', async () => {
  const steps = Array.from({ length: 80 }, (_, i) => ({ text: `step ${i + 1}`, distanceM: 10, durationS: 10 }))
  const provider: Provider = {
    ...{ name: 'offline', approximate: true, hasTraffic: false, geocode: places.geocode },
    route: async () => [{ distanceM: 800, durationS: 800, line: [{ lat: 16, lon: 108 }], steps }],
  }
  const { call } = await openRoutes({ provider })
  const answer = await call('calculate_route', there)
  const text = textOf(answer)
  expect(text).toContain('12. step 12')
  expect(text).not.toContain('40. step 40')
  expect(text).toContain('80. step 80')
  expect(text).toContain('56 steps left out')
  expect(JSON.stringify(answer.content[1])).toContain('step 40')
})

test('an invalid address is reported at the start', () => {
  const from = (env: Record<string, string>): Provider => providerFrom({ env, clock }, atlas)
  expect(() => from({ OSRM_URL: 'localhost:5000' })).toThrow('OSRM_URL must be an http or https address')
  expect(() => from({ TOMTOM_API_KEY: 'k', TOMTOM_BASE_URL: 'api' })).toThrow('TOMTOM_BASE_URL must be an http')
  expect(from({ OSRM_URL: 'http://127.0.0.1:5000' }).name).toBe('osrm')
  expect(from({ OSRM_URL: '', TOMTOM_API_KEY: '' }).name).toBe('offline')
})
