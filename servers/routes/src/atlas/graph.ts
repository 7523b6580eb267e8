/** The roads of Vietnam as a weighted graph, and the shortest path through it. */

import type { Place, Point, TravelMode } from '../route.ts'
import { distanceM } from '../route.ts'
import type { Land } from './land.ts'
import type { Places } from './places.ts'
import type { RoadKind } from './roads.ts'
import { islands, roads } from './roads.ts'

/**
 * The ratio of road length to straight line. These are estimates, not measurements: with them the known distances in
 * `offline.test.ts` come out within a fifth.
 */
const windingFactor: { readonly [kind in RoadKind | 'local']: number } = {
  expressway: 1.12,
  national: 1.2,
  mountain: 1.42,
  ferry: 1,
  local: 1.3,
}

/** Kilometres per hour. A mode without a speed for expressways may not use them. */
const speeds: { readonly [mode in TravelMode]: { readonly [kind in RoadKind | 'local']: number | undefined } } = {
  car: { expressway: 85, national: 52, mountain: 42, ferry: 25, local: 35 },
  motorcycle: { expressway: undefined, national: 42, mountain: 35, ferry: 25, local: 30 },
  bicycle: { expressway: undefined, national: 16, mountain: 11, ferry: 25, local: 14 },
  foot: { expressway: undefined, national: 4.8, mountain: 4, ferry: 25, local: 4.8 },
}

export interface Leg {
  readonly from: Place
  readonly to: Place
  /** Absent for the local roads to and from the nearest main road. */
  readonly road?: string
  readonly kind: RoadKind | 'local'
  readonly distanceM: number
  readonly durationS: number
  /** Of the town at its end, if it is known. */
  readonly population?: number
}

interface Edge {
  readonly to: string
  readonly road: string
  readonly kind: RoadKind
  readonly distanceM: number
}

/** The end that no road reaches; `undefined` if both ends have roads, but no way leads from one to the other. */
export interface Unreachable {
  readonly unreachable: Place | undefined
}

export interface Graph {
  /** Returns whether a point is on one of the islands with a ferry. */
  isIsland(point: Point): boolean
  /** Returns the fastest paths between two points, best first, or the end that no road reaches. */
  findPaths(from: Place, to: Place, mode: TravelMode, count: number): readonly (readonly Leg[])[] | Unreachable
}

/** Beyond this distance from every city of the graph, no main road is near. */
const maxAccessM = 150_000
/** Wider water has no bridge: a river or an inlet is narrower. */
const maxBridgeM = 9_000
/** A ferry has to be waited for. */
const boardingS = 3600

export function createGraph(places: Places, land: Land): Graph {
  const nodes = new Map<string, Place>()
  const edges = new Map<string, Edge[]>()
  const nodeOf = (name: string): Place => {
    const place = nodes.get(name) ?? places.find(name)[0]
    if (!place) throw new Error(`roads.ts names "${name}", but no place has that name`)
    nodes.set(name, { ...place, name })
    return place
  }
  for (const { road, kind, through } of roads)
    for (const [index, name] of through.slice(1).entries()) {
      const before = through[index] ?? name
      const length = distanceM(nodeOf(before), nodeOf(name)) * windingFactor[kind]
      for (const [a, b] of [
        [before, name],
        [name, before],
      ] as const)
        edges.set(a, [...(edges.get(a) ?? []), { to: b, road, kind, distanceM: length }])
    }

  const legOf = (from: Place, to: Place, kind: Leg['kind'], length: number, mode: TravelMode, road?: string): Leg => ({
    from,
    to,
    kind,
    distanceM: length,
    durationS: (length / 1000 / (speeds[mode][kind] ?? 1)) * 3600 + (kind === 'ferry' ? boardingS : 0),
    ...(road !== undefined && { road }),
  })
  const local = (from: Place, to: Place, mode: TravelMode): Leg =>
    legOf(from, to, 'local', distanceM(from, to) * windingFactor.local, mode)
  const islandOf = (point: Point): string | undefined =>
    Object.entries(islands).find(([name, radius]) => distanceM(point, nodes.get(name) ?? point) <= radius)?.[0]
  const nearest = (point: Point): readonly Place[] => {
    const island = islandOf(point)
    return [...nodes.values()]
      .map((place) => ({ place, away: distanceM(point, place) }))
      .filter(({ place, away }) => away <= maxAccessM && islandOf(place) === island)
      .filter(({ place }) => island !== undefined || land.widestWaterM(point, place) <= maxBridgeM)
      .sort((a, b) => a.away - b.away)
      .slice(0, 3)
      .map(({ place }) => place)
  }

  /** Dijkstra over a hundred nodes. `penalty` makes used roads look longer, which produces the alternatives. */
  function way(
    from: Place,
    to: Place,
    mode: TravelMode,
    penalty: ReadonlyMap<string, number>,
  ): readonly Leg[] | undefined {
    const reached = new Map<string, { readonly cost: number; readonly legs: readonly Leg[] }>()
    const open = new Map<string, { readonly cost: number; readonly legs: readonly Leg[] }>()
    for (const node of nearest(from)) {
      const leg = local(from, node, mode)
      open.set(node.name, { cost: leg.durationS, legs: leg.distanceM < 500 ? [] : [leg] })
    }
    while (open.size > 0) {
      const [name, here] = [...open].reduce((best, other) => (other[1].cost < best[1].cost ? other : best))
      open.delete(name)
      reached.set(name, here)
      const at = nodes.get(name)
      if (!at) continue
      for (const edge of edges.get(name) ?? []) {
        const next = nodes.get(edge.to)
        if (!next || reached.has(edge.to) || speeds[mode][edge.kind] === undefined) continue
        const leg = legOf(at, next, edge.kind, edge.distanceM, mode, edge.road)
        const cost = here.cost + leg.durationS * (penalty.get(`${name} ${edge.to} ${edge.road}`) ?? 1)
        const known = open.get(edge.to)
        if (!known || cost < known.cost) open.set(edge.to, { cost, legs: [...here.legs, leg] })
      }
    }
    const ends = nearest(to).flatMap((node) => {
      const here = reached.get(node.name)
      const leg = local(node, to, mode)
      return here
        ? [{ cost: here.cost + leg.durationS, legs: leg.distanceM < 500 ? here.legs : [...here.legs, leg] }]
        : []
    })
    return ends.sort((a, b) => a.cost - b.cost)[0]?.legs
  }

  return {
    isIsland: (point) => islandOf(point) !== undefined,
    findPaths(from, to, mode, count) {
      const straight = local(from, to, mode)
      const [starts, ends] = [nearest(from), nearest(to)]
      if (starts.length === 0) return { unreachable: from }
      if (ends.length === 0) return { unreachable: to }
      // For neighbours, main roads would be a detour.
      if (straight.distanceM < 25_000 && islandOf(from) === islandOf(to)) return [[straight]]
      const penalty = new Map<string, number>()
      const found: (readonly Leg[])[] = []
      const seen = new Set<string>()
      for (let attempt = 0; attempt < count * 4 && found.length < count; attempt++) {
        const legs = way(from, to, mode, penalty)
        if (!legs) break
        const shape = legs.map(({ to, road }) => `${road} ${to.name}`).join('|')
        if (!seen.has(shape)) found.push(legs)
        seen.add(shape)
        for (const { from, to, road } of legs) {
          const key = `${from.name} ${to.name} ${road}`
          penalty.set(key, (penalty.get(key) ?? 1) * 1.4)
        }
      }
      return found.length === 0 ? { unreachable: undefined } : found.sort((a, b) => timeOf(a) - timeOf(b))
    },
  }
}

const timeOf = (legs: readonly Leg[]): number => legs.reduce((total, { durationS }) => total + durationS, 0)
