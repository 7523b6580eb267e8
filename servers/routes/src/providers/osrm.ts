/**
 * Routes from an OSRM server by its HTTP API (https://project-osrm.org/docs/v5.24.0/api/). OSRM has no place names, so
 * those come from the offline places.
 */

import * as z from 'zod'
import { parseProviderAnswer, RouteError } from '../failure.ts'
import { words } from '../messages.ts'
import type { Language, Provider, Route, RouteQuery, Step, TravelMode } from '../route.ts'
import { toLine } from '../route.ts'
import type { Upstream } from '../upstream.ts'

const profiles: { readonly [mode in TravelMode]: string } = {
  car: 'driving',
  motorcycle: 'driving',
  bicycle: 'cycling',
  foot: 'walking',
}

/** Checks only the points that are used: a schema over all of them would take longer than everything else. */
const coordinates = z.tuple([z.number(), z.number()])
const answer = z.object({
  code: z.string(),
  routes: z
    .array(
      z.object({
        distance: z.number(),
        duration: z.number(),
        geometry: z.object({ coordinates: z.array(z.unknown()) }),
        legs: z.array(
          z.object({
            steps: z.array(
              z.object({
                distance: z.number(),
                duration: z.number(),
                name: z.string().default(''),
                ref: z.string().optional(),
                maneuver: z.object({ type: z.string(), modifier: z.string().optional() }),
              }),
            ),
          }),
        ),
      }),
    )
    .default([]),
})
type Answer = z.infer<typeof answer>
type OsrmStep = Answer['routes'][number]['legs'][number]['steps'][number]

export const osrm = (baseUrl: string, upstream: Upstream, places: Pick<Provider, 'geocode'>): Provider => ({
  name: 'osrm',
  approximate: false,
  hasTraffic: false,
  geocode: places.geocode,
  async route(query, signal) {
    const { status, body } = await upstream.get(urlOf(baseUrl, query), signal)
    const parsed = answer.safeParse(body)
    if (!parsed.success) throw new RouteError({ code: 'PROVIDER_UNAVAILABLE' })
    const { code, routes } = parsed.data
    if (code === 'NoRoute' || code === 'NoSegment') throw new RouteError({ code: 'NO_ROUTE_FOUND' })
    if (status === 401 || status === 403) throw new RouteError({ code: 'PROVIDER_REFUSED' })
    if (code !== 'Ok' || routes.length === 0) throw new RouteError({ code: 'PROVIDER_UNAVAILABLE' })
    return parseProviderAnswer(() => routes.map((route) => toRoute(route, query.language)))
  },
})

function urlOf(baseUrl: string, { places, mode, alternatives }: RouteQuery): URL {
  const points = places.map(({ lat, lon }) => `${lon},${lat}`).join(';')
  const url = new URL(`${baseUrl.replace(/\/$/, '')}/route/v1/${profiles[mode]}/${points}`)
  url.search = new URLSearchParams({
    alternatives: alternatives === 0 ? 'false' : String(alternatives),
    overview: 'full',
    geometries: 'geojson',
    steps: 'true',
  }).toString()
  return url
}

const toRoute = ({ distance, duration, geometry, legs }: Answer['routes'][number], language: Language): Route => ({
  distanceM: distance,
  durationS: duration,
  line: toLine(geometry.coordinates, (pair) => {
    const [lon, lat] = coordinates.parse(pair)
    return { lat, lon }
  }),
  steps: legs.flatMap(({ steps }) => steps.map((step) => toStep(step, language))),
})

function toStep({ distance, duration, name, ref, maneuver }: OsrmStep, language: Language): Step {
  const road = [ref, name].filter((part) => part !== undefined && part !== '').join(' ')
  const turn =
    turns[language][`${maneuver.type} ${maneuver.modifier ?? ''}`] ??
    turns[language][maneuver.modifier ?? maneuver.type]
  const text = [turn ?? words[language].onward, road && `– ${road}`].filter(Boolean).join(' ')
  return { text, distanceM: distance, durationS: duration }
}

const turns: { readonly [language in Language]: { readonly [maneuver: string]: string | undefined } } = {
  vi: {
    depart: 'Khởi hành',
    'arrive ': 'Đến nơi',
    arrive: 'Đến nơi',
    left: 'Rẽ trái',
    right: 'Rẽ phải',
    'slight left': 'Chếch trái',
    'slight right': 'Chếch phải',
    'sharp left': 'Rẽ gắt trái',
    'sharp right': 'Rẽ gắt phải',
    straight: 'Đi thẳng',
    uturn: 'Quay đầu',
    roundabout: 'Vào vòng xuyến',
  },
  en: {
    depart: 'Set off',
    'arrive ': 'Arrive',
    arrive: 'Arrive',
    left: 'Turn left',
    right: 'Turn right',
    'slight left': 'Bear left',
    'slight right': 'Bear right',
    'sharp left': 'Turn sharp left',
    'sharp right': 'Turn sharp right',
    straight: 'Go straight on',
    uturn: 'Turn round',
    roundabout: 'Enter the roundabout',
  },
}
