/**
 * Routes, traffic and places from TomTom's documented APIs: Routing v1 (calculateRoute) and Search v2 (geocode).
 *
 * https://developer.tomtom.com/routing-api/documentation/tomtom-maps/calculate-route
 */

import * as z from 'zod'
import { parseProviderAnswer, RouteError } from '../failure.ts'
import type { Language, Place, Point, Provider, Route, RouteQuery, TravelMode } from '../route.ts'
import { toLine } from '../route.ts'
import type { Upstream, UpstreamResponse } from '../upstream.ts'

const modes: { readonly [mode in TravelMode]: string } = {
  car: 'car',
  motorcycle: 'motorcycle',
  bicycle: 'bicycle',
  foot: 'pedestrian',
}
const locales: { readonly [language in Language]: string } = { vi: 'vi-VN', en: 'en-GB' }

const point = z.object({ latitude: z.number(), longitude: z.number() })
const routeSchema = z.object({
  routes: z.array(
    z.object({
      summary: z.object({
        lengthInMeters: z.number(),
        travelTimeInSeconds: z.number(),
        trafficDelayInSeconds: z.number().default(0),
      }),
      // Checks only the points that are used: a schema over all of them would take longer than everything else.
      legs: z.array(z.object({ points: z.array(z.unknown()) })),
      sections: z
        .array(
          z.object({
            startPointIndex: z.number(),
            endPointIndex: z.number(),
            sectionType: z.string(),
            delayInSeconds: z.number().default(0),
          }),
        )
        .default([]),
      guidance: z
        .object({
          instructions: z.array(
            z.object({
              routeOffsetInMeters: z.number(),
              travelTimeInSeconds: z.number(),
              message: z.string().default(''),
            }),
          ),
        })
        .default({ instructions: [] }),
    }),
  ),
})
type RouteResponse = z.infer<typeof routeSchema>['routes'][number]

const searchSchema = z.object({
  results: z.array(
    z.object({
      position: z.object({ lat: z.number(), lon: z.number() }),
      address: z.object({ freeformAddress: z.string() }),
    }),
  ),
})

/** The error formats of the two APIs. */
const errorSchema = z.object({ detailedError: z.object({ code: z.string() }) })

export interface TomtomOptions {
  readonly key: string
  readonly baseUrl?: string
  /** Countries in which places are searched first. */
  readonly countries?: string
}

export function tomtom(options: TomtomOptions, upstream: Upstream): Provider {
  const { key, baseUrl = 'https://api.tomtom.com', countries = 'VN' } = options
  const ask = (path: string, query: Record<string, string>, signal: AbortSignal): Promise<UpstreamResponse> => {
    const url = new URL(`${baseUrl.replace(/\/$/, '')}${path}`)
    url.search = new URLSearchParams({ key, ...query }).toString()
    return upstream.get(url, signal)
  }
  return {
    name: 'tomtom',
    approximate: false,
    hasTraffic: true,
    async route(query, signal) {
      const points = query.places.map(({ lat, lon }) => `${lat},${lon}`).join(':')
      const reply = await ask(`/routing/1/calculateRoute/${points}/json`, routing(query), signal)
      const routes = parse(routeSchema, reply).routes
      if (routes.length === 0) throw new RouteError({ code: 'NO_ROUTE_FOUND' })
      return parseProviderAnswer(() => routes.map((route) => toRoute(route, query.traffic)))
    },
    async geocode(text, language, signal) {
      const search = { countrySet: countries, limit: '5', language: locales[language] }
      const reply = await ask(`/search/2/geocode/${encodeURIComponent(text)}.json`, search, signal)
      return parse(searchSchema, reply).results.map(
        ({ position, address }): Place => ({ name: address.freeformAddress, lat: position.lat, lon: position.lon }),
      )
    },
  }
}

const routing = ({
  mode,
  language,
  alternatives,
  departAt,
  arriveAt,
  traffic,
}: RouteQuery): Record<string, string> => ({
  travelMode: modes[mode],
  traffic: String(traffic),
  maxAlternatives: String(alternatives),
  instructionsType: 'text',
  language: locales[language],
  ...(traffic && { sectionType: 'traffic' }),
  ...(departAt !== undefined && { departAt }),
  ...(arriveAt !== undefined && { arriveAt }),
})

function parse<S extends z.ZodType>(schema: S, { status, body }: UpstreamResponse): z.infer<S> {
  if (status === 401 || status === 403) throw new RouteError({ code: 'PROVIDER_REFUSED' })
  if (status >= 400) {
    const code = errorSchema.safeParse(body).data?.detailedError.code
    throw new RouteError({
      code: code === undefined || code === 'BAD_INPUT' ? 'PROVIDER_UNAVAILABLE' : 'NO_ROUTE_FOUND',
    })
  }
  const parsed = schema.safeParse(body)
  if (!parsed.success) throw new RouteError({ code: 'PROVIDER_UNAVAILABLE' })
  return parsed.data
}

function toRoute({ summary, legs, sections, guidance }: RouteResponse, traffic: boolean): Route {
  const points = legs.flatMap(({ points }) => points)
  const toPoint = (value: unknown): Point => {
    const { latitude, longitude } = point.parse(value)
    return { lat: latitude, lon: longitude }
  }
  const { instructions } = guidance
  const end = { routeOffsetInMeters: summary.lengthInMeters, travelTimeInSeconds: summary.travelTimeInSeconds }
  return {
    distanceM: summary.lengthInMeters,
    durationS: summary.travelTimeInSeconds,
    line: toLine(points, toPoint),
    // An instruction has only its start; its length is the distance to the next one.
    steps: instructions.map((here, index) => {
      const next = instructions[index + 1] ?? end
      return {
        text: here.message,
        distanceM: Math.max(0, next.routeOffsetInMeters - here.routeOffsetInMeters),
        durationS: Math.max(0, next.travelTimeInSeconds - here.travelTimeInSeconds),
      }
    }),
    ...(traffic && {
      traffic: {
        delayS: summary.trafficDelayInSeconds,
        sections: sections.flatMap(({ sectionType, startPointIndex, endPointIndex, delayInSeconds }) => {
          const [from, to] = [points[startPointIndex], points[endPointIndex]]
          return sectionType === 'TRAFFIC' && from !== undefined && to !== undefined
            ? [{ from: toPoint(from), to: toPoint(to), delayS: delayInSeconds }]
            : []
        }),
      },
    }),
  }
}
