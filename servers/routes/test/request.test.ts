import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { failures } from '../src/messages.ts'
import { checkRequest } from '../src/request.ts'
import { codesOf, openRoutes, textOf } from './server.fixture.ts'

const there = { origin: 'Hanoi', destination: 'Hue' }

describe('a violated rule gets its code, its field and a hint, in the requested language', () => {
  test.each([
    [{ origin: 'Hanoi' }, 'INVALID_LOCATIONS_COUNT', 'destination'],
    [{ ...there, origin: '' }, 'INVALID_LOCATIONS_COUNT', 'origin'],
    [{ ...there, origin: '21.03' }, 'INVALID_LOCATION_FORMAT', 'origin'],
    [{ ...there, destination: '1,2,3' }, 'INVALID_LOCATION_FORMAT', 'destination'],
    [{ ...there, origin: '91,105' }, 'INVALID_COORD_RANGE', 'origin'],
    [{ ...there, origin: { lat: 10, lon: 181 } }, 'INVALID_COORD_RANGE', 'origin'],
    [
      { ...there, waypoints: Array.from({ length: 151 }, (_, i) => `10.${i + 1},106`) },
      'INVALID_WAYPOINTS_RULES',
      'waypoints',
    ],
    [{ ...there, waypoints: ['Vinh', 'Vinh'] }, 'INVALID_WAYPOINTS_RULES', 'waypoints.1'],
    [
      { ...there, depart_at: '2026-11-16T08:00:00Z', arrive_at: '2026-11-16T09:00:00Z' },
      'PARAM_CONFLICT_TIME',
      'depart_at',
    ],
    [{ ...there, arrive_at: 'tomorrow' }, 'PARAM_CONFLICT_TIME', 'arrive_at'],
    [{ ...there, alternatives: 6 }, 'INVALID_MAX_ALTERNATIVES', 'alternatives'],
    [{ ...there, alternatives: 1.5 }, 'INVALID_MAX_ALTERNATIVES', 'alternatives'],
    [{ ...there, alternatives: 1, waypoints: ['Vinh'] }, 'PARAM_CONFLICT_ALTERNATIVES', 'alternatives'],
    [{ ...there, travel_mode: 'boat' }, 'INVALID_TRAVEL_MODE', 'travel_mode'],
    [{ ...there, depart_at: '2026-11-16T08:00:00Z' }, 'INVALID_POST_BODY_COMBINATION', 'depart_at'],
  ] as const)('%j: %s', async (args, code, field) => {
    const { call } = await openRoutes()
    for (const language of ['vi', 'en'] as const) {
      const answer = await call('calculate_route', { ...args, language })
      expect(answer).toMatchObject({
        isError: true,
        structuredContent: { type: 'USER_VALIDATION_ERROR', locale: language },
      })
      expect(answer.structuredContent?.errors).toContainEqual(
        expect.objectContaining({ code, field, hint: failures[language][code].hint }),
      )
    }
  })
})

test('all violated rules are reported at once, in English unless another language is asked for', async () => {
  const { call } = await openRoutes()
  const wrong = { origin: '99,0', travel_mode: 'boat', alternatives: 9 }
  const answer = await call('calculate_route', wrong)
  expect(codesOf(answer)).toEqual([
    'INVALID_LOCATIONS_COUNT',
    'INVALID_COORD_RANGE',
    'INVALID_TRAVEL_MODE',
    'INVALID_MAX_ALTERNATIVES',
  ])
  expect(textOf(answer)).toContain('please fix')
  expect(textOf(await call('calculate_route', { ...wrong, language: 'vi-VN' }))).toContain('vui lòng sửa')
})

test('traffic is refused if the provider has no traffic data, with what to do', async () => {
  const { call } = await openRoutes()
  const answer = await call('get_route_with_traffic', { ...there, language: 'en' })
  expect(codesOf(answer)).toEqual(['TRAFFIC_NOT_AVAILABLE'])
  expect(textOf(answer)).toContain('TOMTOM_API_KEY')
})

test('any arguments give either a request or failures with known codes', () => {
  const provider = { name: 'offline', hasTraffic: false } as const
  const location = fc.option(fc.oneof(fc.string(), fc.record({ lat: fc.double(), lon: fc.double() })), {
    nil: undefined,
  })
  fc.assert(
    fc.property(
      fc.record({
        origin: location,
        destination: location,
        travel_mode: fc.option(fc.string(), { nil: undefined }),
        alternatives: fc.option(fc.double(), { nil: undefined }),
      }),
      (input) => {
        const checked = checkRequest(input, provider)
        if ('failures' in checked) for (const { code } of checked.failures) expect(failures.en).toHaveProperty(code)
        else
          for (const { location } of checked.stops)
            if (typeof location !== 'string') expect(Math.abs(location.lat)).toBeLessThanOrEqual(90)
      },
    ),
    { seed: 4, numRuns: 2_000 },
  )
})
