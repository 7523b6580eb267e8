import { once } from 'node:events'
import { fakeClock } from 'sluice/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { open } from '../src/index.ts'
import { fold } from '../src/offline/places.ts'
import { aFolder, codesOf, openRoutes, textOf } from './server.fixture.ts'

/** Road distances in kilometres, from road maps. */
const known = [
  ['Hanoi', 'Ho Chi Minh City', 1710],
  ['Hanoi', 'Haiphong', 120],
  ['Hanoi', 'Da Nang', 765],
  ['Hanoi', 'Sa Pa', 315],
  ['Hanoi', 'Ha Giang', 280],
  ['Hanoi', 'Cao Bang', 280],
  ['Hanoi', 'Ha Long', 155],
  ['Hue', 'Da Nang', 100],
  ['Nha Trang', 'Da Lat', 135],
  ['Saigon', 'Can Tho', 170],
  ['Saigon', 'Ca Mau', 305],
  ['Saigon', 'Vung Tau', 100],
  ['Saigon', 'Buon Ma Thuot', 350],
  ['Pleiku', 'Quy Nhon', 160],
] as const

test.each(known)(
  '%s to %s is %i km within a fifth, and the answer says it is approximate',
  async (origin, destination, km) => {
    const { call } = await openRoutes()
    const answer = await call('calculate_route', { origin, destination, language: 'en' })
    const [route] = (answer.structuredContent?.['routes'] ?? []) as readonly { distance_m: number }[]
    expect(Math.abs((route?.distance_m ?? 0) / 1000 - km) / km).toBeLessThan(0.2)
    expect(answer.structuredContent?.['approximate']).toBe(true)
    expect(textOf(answer)).toContain('approximate')
  },
)

test('the cities are read at the start, so that the first call does not wait for them', async () => {
  const reading = once(process, 'worker')
  const logger = { info() {}, warn() {}, error() {} }
  const { close } = await open({ folder: aFolder(), env: {}, clock: fakeClock(), logger })
  onTestFinished(close)
  await reading
})

describe('places by name', () => {
  test.each(['Hanoi', 'hà nội', 'HA NOI', 'Thành phố Hà Nội', 'Hanoi, Vietnam', 'Hà  Nội'])(
    '%s is Hà Nội',
    async (address) => {
      const { call } = await openRoutes()
      expect((await call('geocode_address', { address })).structuredContent?.['places']).toMatchObject([
        { name: 'Hà Nội' },
      ])
    },
  )
  test('spellings fold to one', () => {
    expect(fold('Ðông Hà')).toBe(fold('đông hà'))
    expect(fold('TP. Hồ Chí Minh')).toBe(fold('Ho Chi Minh City'))
  })
  test('a mistyped name is not guessed: the answer suggests other names', async () => {
    const { call } = await openRoutes()
    const answer = await call('calculate_route', { origin: 'Hanoii', destination: 'Huế', language: 'en' })
    expect(codesOf(answer)).toEqual(['PLACE_NOT_FOUND'])
    expect(textOf(answer)).toContain('Did you mean "Hà Nội"?')
  })
  test('an unknown place, and one far from every road', async () => {
    const { call } = await openRoutes()
    expect(codesOf(await call('geocode_address', { address: 'Xyzzyqqq' }))).toEqual(['PLACE_NOT_FOUND'])
    expect(codesOf(await call('calculate_route', { origin: 'Hanoi', destination: '48.85,2.35' }))).toEqual([
      'NO_ROUTE_FOUND',
    ])
  })
})

test('expressways are for cars: a motorcycle takes the national roads and needs longer', async () => {
  const { call } = await openRoutes()
  const by = async (travel_mode: string): Promise<string> =>
    textOf(await call('calculate_route', { origin: 'Hanoi', destination: 'Vinh', travel_mode, language: 'en' }))
  expect(await by('car')).toContain('CT.01')
  expect(await by('motorcycle')).not.toContain('CT.')
})

test('alternatives are different routes, none faster than the first', async () => {
  const { call } = await openRoutes()
  const answer = await call('calculate_route', { origin: 'Hanoi', destination: 'Da Nang', alternatives: 3 })
  const routes = answer.structuredContent?.['routes'] as readonly { duration_s: number }[]
  expect(routes).toHaveLength(4)
  const times = routes.map(({ duration_s }) => duration_s)
  expect(times).toEqual([...times].sort((a, b) => a - b))
})

test('waypoints are passed in order', async () => {
  const { call } = await openRoutes()
  const answer = await call('calculate_route', {
    origin: 'Hanoi',
    waypoints: ['Vinh', 'Hue'],
    destination: 'Da Nang',
    language: 'en',
  })
  expect(textOf(answer)).toContain('Hà Nội → Vinh → Huế → Đà Nẵng')
})

test('neighbouring places are not connected by main roads', async () => {
  const { call } = await openRoutes()
  const answer = await call('calculate_route', {
    origin: '21.03,105.85',
    destination: '21.05,105.80',
    travel_mode: 'foot',
    language: 'en',
  })
  expect(textOf(answer)).toContain('Take local roads')
})

test('the answer has steps, the whole route as a resource, and a map', async () => {
  const { call, client, folder } = await openRoutes({ folder: aFolder() })
  expect(folder).not.toBe('')
  const answer = await call('calculate_route', { origin: 'Hanoi', destination: 'Hue' })
  expect(answer.content.map(({ type }) => type)).toEqual(['text', 'resource', 'image'])
  const uri = `route://${String(answer.structuredContent?.['id'])}`
  const read = await client.request('resources/read', { uri })
  expect(JSON.parse((read['contents'] as { text: string }[])[0]?.text ?? '')).toMatchObject({
    provider: 'offline',
    mode: 'car',
  })
  const listed = await client.request('resources/list')
  expect(listed).toMatchObject({ resources: [{ uri: 'history://requests' }, { uri: 'ui://routes/map' }, { uri }] })
  const picture = Buffer.from(answer.content[2]?.data ?? '', 'base64').toString()
  expect(picture).toMatch(/^<svg [\s\S]*<polyline class="best"[\s\S]*Hà Nội[\s\S]*<\/svg>$/)
})
