/**
 * Routes outside Vietnam, where no roads are known: from town to town over land, and over well-known bridges and
 * ferries. The lengths are estimates, and every answer says so.
 */

import type { Place, Point, TravelMode } from '../route.ts'
import { distanceM } from '../route.ts'
import type { City, Nearby } from './cities.ts'
import { createNearby } from './cities.ts'
import type { Leg, Unreachable } from './graph.ts'
import type { Land } from './land.ts'
import type { Link } from './links.ts'
import { closedBorders, links } from './links.ts'
import { shortestPath } from './shortest-path.ts'

export interface World {
  /** Returns the legs from town to town, or the end that no road reaches. */
  findPath(from: Place, to: Place, mode: TravelMode): readonly Leg[] | Unreachable
}

/** Towns nearer to a larger one are left out. */
const townSpacingM = 18_000
/** Rivers, inlets and straits up to this width have a bridge or a short ferry, which a bitmap of five kilometres hides. */
const maxBridgeM = 9_000
const maxAccessM = 150_000
/** From the towns of the outback to the next ones. */
const maxHopM = 1_200_000
const searchRadiiM = [60_000, 150_000, 400_000, maxHopM]
const sectors = 8

/** Kilometres per hour, with breaks for towns and hills. */
const speeds: { readonly [mode in TravelMode]: number } = { car: 72, motorcycle: 66, bicycle: 16, foot: 4.8 }
const ferryKmh = 32
const boardingS = 3600

interface Town extends Place {
  readonly country: string
  readonly population: number
  readonly index: number
}

interface TownEdge {
  readonly to: number
  readonly cost: number
  readonly from: Place
  readonly distanceM: number
  readonly link?: Link
}

export function createWorld(cities: readonly City[], land: Land): World {
  const towns = chooseTowns(cities)
  const nearby = createNearby(towns)
  const bridges = linkEdges(nearby)
  const known = new Map<number, readonly TownEdge[]>()
  /** Computed at the first use: a route needs the edges of a few thousand towns, not of all. */
  const edgesOf = (index: number): readonly TownEdge[] => {
    const found = known.get(index) ?? [...roadsFrom(towns[index], nearby, land), ...(bridges.get(index) ?? [])]
    known.set(index, found)
    return found
  }
  const access = (point: Place): readonly TownEdge[] =>
    nearby
      .within(point, maxAccessM)
      .filter(({ item }) => land.widestWaterM(point, item) <= maxBridgeM)
      .slice(0, 4)
      .map(({ item, away }) => toEdge(point, item, away * windingOf(away)))
  return {
    findPath(from, to, mode) {
      const [starts, ends] = [access(from), access(to)]
      if (starts.length === 0) return { unreachable: from }
      if (ends.length === 0) return { unreachable: to }
      const direct = distanceM(from, to)
      if (direct < townSpacingM && land.widestWaterM(from, to) <= maxBridgeM)
        return [toLeg(toEdge(from, { index: 0 }, direct * windingOf(direct)), to, mode)]
      const last = new Map(ends.map((edge) => [edge.to, edge.distanceM]))
      // The last hop, from a town to the place, is not part of the search.
      const remaining = (node: number): number => Math.max(0, distanceM(towns[node] ?? to, to) - maxAccessM)
      const path = shortestPath(starts, edgesOf, (node) => last.has(node), remaining, towns.length)
      if (!path) return { unreachable: undefined }
      const legs = path.map((edge) => toLeg(edge, towns[edge.to] ?? to, mode))
      const end = path.at(-1)?.to ?? 0
      const rest = toLeg(toEdge(towns[end] ?? to, { index: end }, last.get(end) ?? 0), to, mode)
      return [...legs, rest].filter(({ distanceM }) => distanceM >= 500)
    },
  }
}

/** Largest first, so that a town keeps its place against the villages around it. */
function chooseTowns(cities: readonly City[]): readonly Town[] {
  const cells = new Map<number, City[]>()
  const cellOf = (lat: number, lon: number): number => Math.floor((lat + 90) * 5) * 1800 + Math.floor((lon + 180) * 5)
  const chosen: Town[] = []
  for (const city of cities) {
    const around = [-0.2, 0, 0.2].flatMap((north) =>
      [-0.4, -0.2, 0, 0.2, 0.4].flatMap((east) => cells.get(cellOf(city.lat + north, city.lon + east)) ?? []),
    )
    if (around.some((other) => distanceM(city, other) < townSpacingM)) continue
    const key = cellOf(city.lat, city.lon)
    const cell = cells.get(key)
    if (cell) cell.push(city)
    else cells.set(key, [city])
    const { name, lat, lon, country, population } = city
    chosen.push({ name, lat, lon, country, population, index: chosen.length })
  }
  return chosen
}

/** The nearest two towns in each direction that can be reached over land. Wider circles are searched only if needed. */
function roadsFrom(town: Town | undefined, nearby: Nearby<Town>, land: Land): readonly TownEdge[] {
  if (!town) return []
  for (const radius of searchRadiiM) {
    const taken = new Array<number>(sectors).fill(0)
    const tried = new Array<number>(sectors).fill(0)
    const edges: TownEdge[] = []
    for (const { item, away } of nearby.within(town, radius)) {
      const sector = sectorOf(town, item)
      if (item === town || (taken[sector] ?? 0) >= 2 || (tried[sector] ?? 0) >= 8) continue
      tried[sector] = (tried[sector] ?? 0) + 1
      if (closedBorders.has([town.country, item.country].sort().join('-'))) continue
      if (land.widestWaterM(town, item) > maxBridgeM) continue
      taken[sector] = (taken[sector] ?? 0) + 1
      edges.push(toEdge(town, item, away * windingOf(away)))
    }
    // On a coast, half of the directions stay empty.
    if (taken.filter((count) => count > 0).length >= sectors / 2) return edges
    if (radius === maxHopM) return edges
  }
  return []
}

const sectorOf = (from: Point, to: Point): number => {
  const east = (to.lon - from.lon) * Math.cos((from.lat * Math.PI) / 180)
  return Math.floor(((Math.atan2(to.lat - from.lat, east) + Math.PI) / (2 * Math.PI)) * sectors) % sectors
}

/** The ratio of road length to straight line. A hop between neighbouring towns follows the road almost as it is. */
const windingOf = (metres: number): number => (metres < 60_000 ? 1.13 : metres < 300_000 ? 1.2 : 1.3)

function linkEdges(nearby: Nearby<Town>): ReadonlyMap<number, readonly TownEdge[]> {
  const edges = new Map<number, TownEdge[]>()
  for (const link of links) {
    const [a, b] = link.ends.map((end) => nearby.within(end, 60_000)[0])
    if (!a || !b || a.item === b.item) continue
    const length = a.away * 1.2 + distanceM(...link.ends) + b.away * 1.2
    for (const [from, to] of [
      [a.item, b.item],
      [b.item, a.item],
    ] as const)
      edges.set(from.index, [...(edges.get(from.index) ?? []), toEdge(from, to, length, link)])
  }
  return edges
}

/** Main roads lead to towns of this size. */
const largeTown = 40_000

/** The cost is in metres of road; a ferry counts more, because it is slow and has to be waited for. */
const toEdge = (
  from: Place,
  { index, population = 0 }: { readonly index: number; readonly population?: number },
  length: number,
  link?: Link,
): TownEdge => ({
  to: index,
  cost: link?.kind === 'ferry' ? length * 2.2 + 80_000 : length * (population >= largeTown ? 1 : 1.06),
  from,
  distanceM: length,
  ...(link && { link }),
})

const toLeg = ({ from, distanceM, link }: TownEdge, to: Place, mode: TravelMode): Leg => ({
  from,
  to,
  kind: link?.kind === 'ferry' ? 'ferry' : 'local',
  distanceM,
  durationS:
    link?.kind === 'ferry'
      ? (distanceM / 1000 / ferryKmh) * 3600 + boardingS
      : (distanceM / 1000 / speeds[mode]) * 3600,
  ...(link && { road: link.name }),
  ...('population' in to && { population: Number(to.population) }),
})
