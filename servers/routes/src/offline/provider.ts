/**
 * The provider without key and network: places by name, and main roads as a graph. Its answers say that they are
 * approximate.
 */

import { RouteError } from '../failure.ts'
import { words } from '../messages.ts'
import type { Language, Place, Provider, Route, Step } from '../route.ts'
import { loadCities } from './cities.ts'
import type { Graph, Leg } from './graph.ts'
import { createGraph } from './graph.ts'
import type { Places } from './places.ts'
import { createPlaces } from './places.ts'

async function loadAtlas(): Promise<{ readonly places: Places; readonly graph: Graph }> {
  const places = createPlaces(await loadCities('VN'))
  return { places, graph: createGraph(places) }
}

export function offline(): Provider {
  // Starts at once, so that the first caller does not wait for it. On failure each caller gets the error.
  const atlas = loadAtlas()
  atlas.catch(() => {})
  return {
    name: 'offline',
    approximate: true,
    hasTraffic: false,
    async route({ places, mode, language, alternatives }) {
      const { graph } = await atlas
      const between: (readonly (readonly Leg[])[])[] = []
      for (const [index, to] of places.slice(1).entries()) {
        const paths = await graph.findPaths(places[index] ?? to, to, mode, places.length === 2 ? alternatives + 1 : 1)
        if (paths.length === 0) throw new RouteError({ code: 'NO_ROUTE_FOUND' })
        between.push(paths)
      }
      const count = between.length === 1 ? (between[0]?.length ?? 0) : 1
      return Array.from({ length: count }, (_, which) =>
        toRoute(
          between.flatMap((paths) => paths[which] ?? []),
          language,
        ),
      )
    },
    async geocode(text) {
      const { places } = await atlas
      const found = places.find(text)
      if (found.length > 0) return found
      throw new RouteError({ code: 'PLACE_NOT_FOUND', subject: text, suggestions: places.suggest(text) })
    },
  }
}

function toRoute(legs: readonly Leg[], language: Language): Route {
  const first = legs[0]?.from
  return {
    distanceM: sum(legs, 'distanceM'),
    durationS: sum(legs, 'durationS'),
    line: [...(first ? [pointOf(first)] : []), ...legs.map(({ to }) => pointOf(to))],
    steps: toSteps(legs, language),
  }
}

/** Merges consecutive legs on one road into one step. */
function toSteps(legs: readonly Leg[], language: Language): readonly Step[] {
  const { follow, join } = words[language]
  const groups: Leg[][] = []
  for (const leg of legs) {
    const last = groups.at(-1)
    if (last?.[0]?.road === leg.road && leg.road !== undefined) last?.push(leg)
    else groups.push([leg])
  }
  return groups.map((group) => {
    const to = group.at(-1)?.to.name ?? ''
    const road = group[0]?.road
    return {
      text: road === undefined ? join(to) : follow(road, to),
      distanceM: sum(group, 'distanceM'),
      durationS: sum(group, 'durationS'),
    }
  })
}

const pointOf = ({ lat, lon }: Place): { lat: number; lon: number } => ({ lat, lon })
const sum = (legs: readonly Leg[], what: 'distanceM' | 'durationS'): number =>
  legs.reduce((total, leg) => total + leg[what], 0)
