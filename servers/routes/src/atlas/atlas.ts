/**
 * What the server knows without the network: places by name, routes, and maps. It runs in a thread (`worker.ts`),
 * because the tables take seconds to build and a map a tenth of a second to draw.
 */

import type { Failure } from '../failure.ts'
import type { Language, Place, Point, Route, RouteQuery } from '../route.ts'
import { createNearby, loadCities } from './cities.ts'
import type { Graph, Leg, Unreachable } from './graph.ts'
import { createGraph } from './graph.ts'
import { lakes } from './lakes.ts'
import type { Land } from './land.ts'
import { createLand } from './land.ts'
import type { MapTrip } from './map.ts'
import { drawMap } from './map.ts'
import { fontFamily, toPng } from './picture.ts'
import { createPlaces } from './places.ts'
import { displayName, toRoute } from './steps.ts'
import type { Topology } from './topology.ts'
import { loadTopology } from './topology.ts'
import type { World } from './world.ts'
import { createWorld } from './world.ts'
import { createWorldPlaces, nameOf } from './world-places.ts'

/** A result, or the failure that the caller gets. An error would lose its fields between threads. */
export type Outcome<T> = { readonly value: T } | { readonly failure: Failure }

export interface Picture {
  readonly svg: string
  readonly png: Uint8Array
}

export interface AtlasFunctions {
  geocode(text: string, language: Language): Outcome<readonly Place[]>
  route(query: Pick<RouteQuery, 'places' | 'mode' | 'language' | 'alternatives'>): Outcome<readonly Route[]>
  svg(trip: MapTrip): Outcome<string>
  picture(trip: MapTrip): Promise<Outcome<Picture>>
}

/** A point farther than this from every town belongs to no country. */
const countryRadiusM = 60_000

export function createAtlas(): AtlasFunctions {
  const cities = loadCities()
  const vietnam = createPlaces(cities.filter(({ country }) => country === 'VN'))
  const worldPlaces = memoize(() => createWorldPlaces(cities))
  const nearby = memoize(() => createNearby(cities))
  const topologies = { '50m': memoize(() => loadTopology('50m')), '10m': memoize(() => loadTopology('10m')) }
  const land = memoize((): Land => createLand(topologies['50m']().coasts, lakes))
  const graph = memoize((): Graph => createGraph(vietnam, land()))
  const world = memoize((): World => createWorld(cities, land()))
  const ground = {
    topology: (detail: '10m' | '50m'): Topology => topologies[detail](),
    ...{ lakes, fontFamily },
    cities: cities.map((city) => (city.country === 'VN' ? { ...city, name: vietnam.displayName(city.name) } : city)),
  }
  const isInVietnam = (point: Point): boolean => {
    const [nearest] = nearby().within(point, countryRadiusM)
    return nearest === undefined ? graph().isIsland(point) : nearest.item.country === 'VN'
  }
  const svg: AtlasFunctions['svg'] = (trip) => ({ value: drawMap(trip, ground) })
  return {
    svg,
    async picture(trip) {
      const drawn = drawMap(trip, ground)
      return { value: { svg: drawn, png: await toPng(drawn) } }
    },
    geocode(text, language) {
      const inVietnam = vietnam.find(text).map((place) => ({ ...place, name: displayName(place.name, language) }))
      const isExact = vietnam.isExact(text)
      const toPlaces = (found: ReturnType<ReturnType<typeof worldPlaces>['find']>): readonly Place[] =>
        found
          .filter(({ country }) => country !== 'VN')
          .map((city) => ({ name: nameOf(city, language), lat: city.lat, lon: city.lon }))
      // A town of Vietnam that only begins with the name must not hide the town with that name elsewhere.
      const found = isExact ? inVietnam : [...toPlaces(worldPlaces().find(text)), ...inVietnam]
      if (found.length > 0) return { value: found.slice(0, 10) }
      const begins = toPlaces(worldPlaces().findPrefix(text))
      if (begins.length > 0) return { value: begins }
      const names = [
        ...vietnam.suggest(text).map((name) => displayName(name, language)),
        ...worldPlaces()
          .suggest(text)
          .filter(({ country }) => country !== 'VN')
          .map((city) => nameOf(city, language)),
      ]
      return { failure: { code: 'PLACE_NOT_FOUND', subject: text, suggestions: [...new Set(names)].slice(0, 3) } }
    },
    route({ places, mode, language, alternatives }) {
      const basis = places.every(isInVietnam) ? 'roads' : 'towns'
      const count = places.length === 2 && basis === 'roads' ? alternatives + 1 : 1
      const between: (readonly (readonly Leg[])[])[] = []
      for (const [index, to] of places.slice(1).entries()) {
        const from = places[index] ?? to
        const found = basis === 'roads' ? graph().findPaths(from, to, mode, count) : world().findPath(from, to, mode)
        if ('unreachable' in found) return { failure: toNoRoute(found) }
        between.push(basis === 'roads' ? (found as readonly (readonly Leg[])[]) : [found as readonly Leg[]])
      }
      const routes = between.length === 1 ? (between[0]?.length ?? 0) : 1
      return {
        value: Array.from({ length: routes }, (_, which) =>
          toRoute(
            between.flatMap((paths) => paths[which] ?? []),
            language,
            basis,
          ),
        ),
      }
    },
  }
}

const toNoRoute = ({ unreachable }: Unreachable): Failure =>
  unreachable ? { code: 'NO_ROAD', subject: unreachable.name } : { code: 'NO_ROUTE_FOUND' }

function memoize<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
