/**
 * Checks the arguments of a route by rules that a schema cannot express: options that exclude each other, coordinates
 * in range. Every violated rule is reported with the document's code and a hint, in the caller's language.
 */

import * as z from 'zod'
import type { Failure } from './failure.ts'
import { toLanguage } from './messages.ts'
import type { Language, Point, Provider, TravelMode } from './route.ts'
import { travelModes } from './route.ts'

const location = z
  .union([z.string().max(200), z.object({ lat: z.number(), lon: z.number() })])
  .describe('A place name ("Hanoi"), a saved destination, "latitude,longitude", or { lat, lon }')

/** Checks types only. The rules are below, so that violating one gives its own code. */
export const routeInput = z.object({
  origin: location.optional().describe('Where to start: a place name ("Hanoi"), "latitude,longitude" or { lat, lon }'),
  destination: location.optional().describe('Where to go: like origin, or the name of a saved destination'),
  waypoints: z.array(location).max(1000).optional().describe('Places to pass, in order, at most 150'),
  travel_mode: z
    .string()
    .max(40)
    .optional()
    .describe(`One of ${travelModes.join(', ')}; car by default`),
  language: z.string().max(20).optional().describe('Language of the answer: en (default) or vi'),
  alternatives: z.number().optional().describe('How many alternative routes to show, 0 to 5; 0 by default'),
  depart_at: z.string().max(40).optional().describe('When to leave, ISO 8601; excludes arrive_at'),
  arrive_at: z.string().max(40).optional().describe('When to arrive, ISO 8601; excludes depart_at'),
})
export type RouteInput = z.infer<typeof routeInput>

export interface RouteStop {
  readonly field: string
  /** A name to look up, or a point. */
  readonly location: string | Point
}

export interface RouteRequest {
  readonly stops: readonly RouteStop[]
  readonly mode: TravelMode
  readonly language: Language
  readonly alternatives: number
  readonly departAt?: string
  readonly arriveAt?: string
}

const maxWaypoints = 150

export function checkRequest(
  input: RouteInput,
  provider: Pick<Provider, 'name' | 'hasTraffic'>,
): RouteRequest | { readonly language: Language; readonly failures: readonly Failure[] } {
  const { origin, destination, waypoints = [], travel_mode = 'car', alternatives = 0, depart_at, arrive_at } = input
  const language = toLanguage(input.language)
  const failures: Failure[] = []
  const inputs = [
    { field: 'origin', from: origin },
    ...waypoints.map((from, index) => ({ field: `waypoints.${index}`, from })),
    { field: 'destination', from: destination },
  ]
  for (const { field, from } of inputs)
    if (from === undefined || from === '') failures.push({ code: 'INVALID_LOCATIONS_COUNT', field })
  const stops = inputs.flatMap(({ field, from }) => {
    if (from === undefined || from === '') return []
    const at = toLocation(from)
    if (typeof at === 'object' && 'code' in at) failures.push({ ...at, field })
    else return [{ field, location: at }]
    return []
  })
  if (waypoints.length > maxWaypoints)
    failures.push({
      code: 'INVALID_WAYPOINTS_RULES',
      field: 'waypoints',
      subject: `${waypoints.length} > ${maxWaypoints}`,
    })
  const repeated = stops.find(({ location }, index) => index > 0 && isSame(location, stops[index - 1]?.location))
  if (repeated)
    failures.push({
      code: 'INVALID_WAYPOINTS_RULES',
      field: repeated.field,
      subject: formatLocation(repeated.location),
    })
  const mode = travelModes.find((known) => known === travel_mode.toLowerCase())
  if (!mode) failures.push({ code: 'INVALID_TRAVEL_MODE', field: 'travel_mode', subject: travel_mode })
  if (!Number.isInteger(alternatives) || alternatives < 0 || alternatives > 5)
    failures.push({ code: 'INVALID_MAX_ALTERNATIVES', field: 'alternatives', subject: String(alternatives) })
  else if (alternatives > 0 && waypoints.length > 0)
    failures.push({ code: 'PARAM_CONFLICT_ALTERNATIVES', field: 'alternatives' })
  const times = [depart_at, arrive_at].filter((time) => time !== undefined)
  if (times.length > 1 || times.some((time) => !isTime(time)))
    failures.push({ code: 'PARAM_CONFLICT_TIME', field: depart_at === undefined ? 'arrive_at' : 'depart_at' })
  else if (times.length === 1 && !provider.hasTraffic)
    failures.push({
      code: 'INVALID_POST_BODY_COMBINATION',
      field: depart_at === undefined ? 'arrive_at' : 'depart_at',
      subject: provider.name,
    })
  if (failures.length > 0 || !mode) return { language, failures }
  return {
    stops,
    mode,
    language,
    alternatives,
    ...(depart_at !== undefined && { departAt: depart_at }),
    ...(arrive_at !== undefined && { arriveAt: arrive_at }),
  }
}

/** Treats a text that looks like numbers as coordinates, which must be valid; everything else is a name. */
export function toLocation(from: string | Point): string | Point | Failure {
  const point = typeof from === 'string' ? toPoint(from) : from
  if (point === undefined) {
    const name = String(from).trim()
    return name === '' || /^[-+\d.,;\s]+$/.test(name)
      ? { code: 'INVALID_LOCATION_FORMAT', subject: String(from) }
      : name
  }
  const isThere = Math.abs(point.lat) <= 90 && Math.abs(point.lon) <= 180
  return isThere ? point : { code: 'INVALID_COORD_RANGE', subject: formatLocation(point) }
}

function toPoint(text: string): Point | undefined {
  const found = /^\s*([-+]?\d{1,4}(?:\.\d{1,15})?)\s*[,;]\s*([-+]?\d{1,4}(?:\.\d{1,15})?)\s*$/.exec(text)
  return found ? { lat: Number(found[1]), lon: Number(found[2]) } : undefined
}

const isTime = (text: string): boolean => /^\d{4}-\d{2}-\d{2}T/.test(text) && !Number.isNaN(Date.parse(text))
const isSame = (a: string | Point, b: string | Point | undefined): boolean =>
  b !== undefined && formatLocation(a) === formatLocation(b)
export const formatLocation = (at: string | Point): string => (typeof at === 'string' ? at : `${at.lat},${at.lon}`)
