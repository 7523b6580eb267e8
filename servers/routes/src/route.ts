/** What is planned: points, places, routes, and what every provider of them promises. */

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

/** What a route is asked for. */
export interface RouteQuery {
  /** Origin, waypoints, destination: at least two. */
  readonly places: readonly Place[]
  readonly mode: TravelMode
  readonly language: Language
  /** How many other routes, 0 to 5. */
  readonly alternatives: number
  /** ISO 8601; at most one of the two. */
  readonly departAt?: string
  readonly arriveAt?: string
  readonly traffic: boolean
}

export interface Step {
  readonly text: string
  readonly distanceM: number
  readonly durationS: number
}

export interface TrafficSection {
  readonly from: Point
  readonly to: Point
  readonly delayS: number
}

/** A way from the first place to the last. */
export interface Route {
  readonly distanceM: number
  readonly durationS: number
  /** The line on the map, from the first place to the last. */
  readonly line: readonly Point[]
  readonly steps: readonly Step[]
  /** Where the provider knows the traffic. */
  readonly traffic?: { readonly delayS: number; readonly sections: readonly TrafficSection[] }
}

/** Where routes come from. Whatever goes wrong is thrown as a `RouteError`. */
export interface Provider {
  readonly name: 'offline' | 'osrm' | 'tomtom'
  /** True where distances are computed, not measured: then every answer says so. */
  readonly approximate: boolean
  readonly hasTraffic: boolean
  /** The best route first. */
  route(query: RouteQuery, signal: AbortSignal): Promise<readonly Route[]>
  /** The best match first; none where nothing fits. */
  geocode(text: string, language: Language, signal: AbortSignal): Promise<readonly Place[]>
}

/** A picture shows no more, and the answer holds each line twice. */
const maxLinePoints = 5000

/** Every so many points of a long line, always with its first and its last. */
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
