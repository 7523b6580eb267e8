/** The data types of planning: points, places, routes, and the contract of a provider. */

export interface Point {
  readonly lat: number
  readonly lon: number
}

/** A point with a name. */
export interface Place extends Point {
  readonly name: string
}

export const travelModes = ['car', 'motorcycle', 'bicycle', 'foot'] as const
export type TravelMode = (typeof travelModes)[number]

export type Language = 'vi' | 'en'

/** The query for a route. */
export interface RouteQuery {
  /** Origin, waypoints, destination: at least two. */
  readonly places: readonly Place[]
  readonly mode: TravelMode
  readonly language: Language
  /** The number of alternative routes, 0 to 5. */
  readonly alternatives: number
  /** ISO 8601; at most one of the two is set. */
  readonly departAt?: string
  readonly arriveAt?: string
  readonly traffic: boolean
}

export interface Step {
  readonly text: string
  readonly isFerry?: boolean
  readonly distanceM: number
  readonly durationS: number
}

export interface TrafficSection {
  readonly from: Point
  readonly to: Point
  readonly delayS: number
}

/** A route from the first place to the last. */
export interface Route {
  readonly distanceM: number
  readonly durationS: number
  /** The line on the map, from the first place to the last. */
  readonly line: readonly Point[]
  readonly steps: readonly Step[]
  /** Set if no roads are known, so that the line goes from town to town. */
  readonly basis?: 'towns'
  /** Set if the provider has traffic data. */
  readonly traffic?: { readonly delayS: number; readonly sections: readonly TrafficSection[] }
}

/** A source of routes. Every failure is thrown as a `RouteError`. */
export interface Provider {
  readonly name: 'offline' | 'osrm' | 'tomtom'
  /** True if distances are computed, not measured; then every answer says so. */
  readonly approximate: boolean
  readonly hasTraffic: boolean
  /** Returns the best route first. */
  route(query: RouteQuery, signal: AbortSignal): Promise<readonly Route[]>
  /** Returns the best match first; empty if nothing matches. */
  geocode(text: string, language: Language, signal: AbortSignal): Promise<readonly Place[]>
}

/** A map shows no more detail, and the answer contains each line twice. */
const maxLinePoints = 5000

/** Samples a long line evenly, always with its first and its last point. */
export function toLine<T>(points: readonly T[], toPoint: (point: T) => Point): readonly Point[] {
  const step = Math.max(1, Math.ceil(points.length / maxLinePoints))
  return points.flatMap((point, at) => (at % step === 0 || at === points.length - 1 ? [toPoint(point)] : []))
}

/** Metres over the great circle (mean Earth radius 6 371 008.8 m). */
export function distanceM(a: Point, b: Point): number {
  const toRadians = Math.PI / 180
  const dLat = (b.lat - a.lat) * toRadians
  const dLon = (b.lon - a.lon) * toRadians
  const h =
    Math.sin(dLat / 2) ** 2 + Math.cos(a.lat * toRadians) * Math.cos(b.lat * toRadians) * Math.sin(dLon / 2) ** 2
  return 2 * 6_371_008.8 * Math.asin(Math.min(1, Math.sqrt(h)))
}
