import { once } from 'node:events'
import { fakeClock } from 'sluice/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fold } from '../src/atlas/places.ts'
import { open } from '../src/index.ts'
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
    '%s is Hanoi',
    async (address) => {
      const { call } = await openRoutes()
      expect((await call('geocode_address', { address })).structuredContent?.['places']).toMatchObject([
        { name: 'Hanoi' },
      ])
    },
  )
  test('different spellings name the same place', () => {
    expect(fold('Ðông Hà')).toBe(fold('đông hà'))
    expect(fold('TP. Hồ Chí Minh')).toBe(fold('Ho Chi Minh City'))
  })
  test('a mistyped name is not guessed: the answer suggests other names', async () => {
    const { call } = await openRoutes()
    const answer = await call('calculate_route', { origin: 'Hanoii', destination: 'Huế', language: 'en' })
    expect(codesOf(answer)).toEqual(['PLACE_NOT_FOUND'])
    expect(textOf(answer)).toContain('Did you mean "Hanoi"?')
  })
  test('an unknown place is not found', async () => {
    const { call } = await openRoutes()
    expect(codesOf(await call('geocode_address', { address: 'Xyzzyqqq' }))).toEqual(['PLACE_NOT_FOUND'])
  })
  test.each([
    ['Paris', 'Paris, France'],
    ['Paris, TX', 'Paris, TX, United States'],
    ['Valencia, Venezuela', 'Valencia, Venezuela'],
    ['cologne', 'Köln, Germany'],
    ['new york', 'New York City, NY, United States'],
  ])('%s is %s', async (address, name) => {
    const { call } = await openRoutes()
    const { places = [] } = (await call('geocode_address', { address })).structuredContent as {
      places?: readonly { name: string }[]
    }
    expect(places[0]?.name).toBe(name)
  })
  test('the language of a name is the one of the answer', async () => {
    const { call } = await openRoutes()
    const named = async (language: string): Promise<unknown> =>
      (await call('geocode_address', { address: 'Saigon', language })).structuredContent?.['places']
    expect(await named('en')).toMatchObject([{ name: 'Ho Chi Minh City' }])
    expect(await named('vi')).toMatchObject([{ name: 'TP. Hồ Chí Minh' }])
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
  expect(textOf(answer)).toContain('Hanoi → Vinh → Hue → Da Nang')
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

describe('islands', () => {
  test.each([
    ['Saigon', 'Phú Quốc', 'Take the ferry Hà Tiên – Phú Quốc to Phú Quốc'],
    ['Saigon', 'Con Dao', 'to Côn Đảo'],
    ['Quảng Ngãi', 'Lý Sơn', 'Take the ferry Sa Kỳ – Lý Sơn to Lý Sơn'],
    ['Paris', 'London', 'Follow Channel Tunnel to'],
    ['London', 'Dublin', 'Take the ferry Holyhead–Dublin to'],
  ])('%s to %s', async (origin, destination, step) => {
    const { call } = await openRoutes()
    const answer = await call('calculate_route', { origin, destination })
    expect(textOf(answer)).toContain(step)
    if (step.includes('ferry')) expect(textOf(answer)).toContain('check its times')
  })
  test('without a known ferry there is no road, and the answer says which end', async () => {
    const { call } = await openRoutes()
    const inTheSea = await call('calculate_route', { origin: 'Hanoi', destination: '12.0,112.5' })
    expect(codesOf(inTheSea)).toEqual(['NO_ROAD'])
    expect(textOf(inTheSea)).toContain('No road leads to "12,112.5"')
    expect(codesOf(await call('calculate_route', { origin: 'Honolulu', destination: 'Los Angeles' }))).toEqual([
      'NO_ROUTE_FOUND',
    ])
  })
})

/** Road distances in kilometres, from road maps. */
const abroad = [
  ['Paris', 'Berlin', 1050],
  ['London', 'Edinburgh', 650],
  ['Berlin', 'Rome', 1500],
  ['New York', 'Los Angeles', 4490],
  ['Chicago', 'Grand Rapids', 290],
  ['Bangkok', 'Chiang Mai', 690],
  ['Tokyo', 'Osaka', 500],
  ['Perth, Australia', 'Adelaide, Australia', 2700],
  ['Delhi', 'Mumbai', 1420],
  ['Hanoi', 'Bangkok', 1500],
] as const

test.each(abroad)(
  '%s to %s is %i km within a quarter, and called a rough estimate',
  async (origin, destination, km) => {
    const { call } = await openRoutes()
    const answer = await call('calculate_route', { origin, destination })
    const [route] = (answer.structuredContent?.['routes'] ?? []) as readonly { distance_m: number }[]
    expect(Math.abs((route?.distance_m ?? 0) / 1000 - km) / km).toBeLessThan(0.25)
    expect(textOf(answer)).toContain('rough estimate')
  },
)

test('what the text says of a route, the data says too', async () => {
  const { call } = await openRoutes()
  const answer = await call('calculate_route', { origin: 'Saigon', destination: 'Phú Quốc' })
  const { notes, routes } = answer.structuredContent as unknown as {
    notes: readonly string[]
    routes: readonly { steps: readonly { number: number; text: string; distance: string; duration: string }[] }[]
  }
  const text = textOf(answer)
  for (const note of notes) expect(text).toContain(note)
  const lines = routes[0]?.steps.map((each) => `${each.number}. ${each.text} (${each.distance}, ${each.duration})`)
  expect(lines?.length).toBeGreaterThan(3)
  expect(text).toContain(lines?.join('\n'))
})

test('the answer has steps, the whole route as a resource, and a map as PNG and as SVG', async () => {
  const { call, client } = await openRoutes()
  const answer = await call('calculate_route', { origin: 'Hanoi', destination: 'Saigon' })
  expect(answer.content.map(({ type }) => type)).toEqual(['text', 'resource', 'image', 'resource_link'])
  const uri = `route://${String(answer.structuredContent?.['id'])}`
  const read = async (from: string): Promise<string> =>
    ((await client.request('resources/read', { uri: from }))['contents'] as { text: string }[])[0]?.text ?? ''
  expect(JSON.parse(await read(uri))).toMatchObject({ provider: 'offline', mode: 'car' })
  const listed = await client.request('resources/list')
  expect(listed).toMatchObject({ resources: [{ uri: 'history://requests' }, { uri: 'ui://routes/map' }, { uri }] })
  const png = Buffer.from(answer.content[2]?.data ?? '', 'base64')
  expect(png.subarray(1, 4).toString()).toBe('PNG')
  expect(png.readUInt32BE(16)).toBe(1080)
  expect(answer.content[3]).toMatchObject({ uri: `${uri}/map.svg`, mimeType: 'image/svg+xml' })
  const svg = await read(`${uri}/map.svg`)
  expect(svg).toMatch(/^<svg [\s\S]*class="land" d="M[\s\S]*<polyline class="best"[\s\S]*Hanoi[\s\S]*<\/svg>$/)
  expect(svg).toContain('about 1,722 km · 27 h')
  expect(svg).toContain('>Vinh</text>')
})

test('a map without a route is not found', async () => {
  const { client } = await openRoutes()
  await expect(client.request('resources/read', { uri: 'route://none/map.svg' })).rejects.toThrow()
})
