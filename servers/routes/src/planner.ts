/**
 * Turns checked arguments into a planned route: resolves names to points (saved, cached or geocoded), then asks the
 * provider.
 */

import { randomUUID } from 'node:crypto'
import type { ToolContext, ToolResult } from 'sluice'
import type { PlannedTrip } from './answer.ts'
import { toAnswer, toFailure, toJson } from './answer.ts'
import type { App } from './app.ts'
import { mapConcurrently } from './concurrency.ts'
import type { Failure } from './failure.ts'
import { RouteError } from './failure.ts'
import type { RouteInput, RouteStop } from './request.ts'
import { checkRequest, formatLocation } from './request.ts'
import type { Language, Place, Route } from './route.ts'

/** Places looked up at the same time. */
const maxParallelLookups = 4

export async function plan(
  { provider, database, atlas }: App,
  input: RouteInput,
  context: ToolContext,
  traffic: boolean,
): Promise<ToolResult> {
  const { call, signal } = context
  const requestId = String(call.id)
  const request = checkRequest(input, provider)
  if ('failures' in request) return toFailure(request.failures, request.language, requestId)
  const { mode, language, alternatives, departAt, arriveAt } = request
  return withFailures(language, requestId, async () => {
    if (traffic && !provider.hasTraffic) throw new RouteError({ code: 'TRAFFIC_NOT_AVAILABLE', subject: provider.name })
    const places = await mapConcurrently(request.stops, maxParallelLookups, (stop) =>
      locate({ provider, database }, stop, language, context),
    )
    context.progress(1, 2, places.map(({ name }) => name).join(' → '))
    const routes = await provider.route(
      {
        ...{ places, mode, language, alternatives, traffic },
        ...(departAt !== undefined && { departAt }),
        ...(arriveAt !== undefined && { arriveAt }),
      },
      signal,
    )
    const planned: PlannedTrip = { id: randomUUID(), requestId, provider, places, mode, language, routes }
    const { approximate } = provider
    const json = toJson(planned)
    await database.saveRoute(call.tenant.id, planned.id, json)
    const { png } = await atlas.picture({ places, routes: routes.map(toMapRoute), language, approximate })
    return toAnswer(planned, json, png)
  })
}

/** The steps of a long route need not go to the thread that draws. */
const toMapRoute = ({ line, distanceM, durationS }: Route): Pick<Route, 'line' | 'distanceM' | 'durationS'> => ({
  line,
  distanceM,
  durationS,
})

/** Looks in the saved destinations first, then in the cache, then asks the provider. */
export async function locate(
  { provider, database }: Pick<App, 'provider' | 'database'>,
  { field, location }: RouteStop,
  language: Language,
  { call, signal }: ToolContext,
): Promise<Place> {
  if (typeof location !== 'string') return { name: formatLocation(location), ...location }
  const tenant = call.tenant.id
  // The names of the offline places depend on the language, and looking one up again costs nothing.
  const isCached = provider.name !== 'offline'
  const known =
    (await database.destination(tenant, location)) ??
    (isCached ? await database.findPlace(tenant, location) : undefined)
  if (known) return { name: known.name, lat: known.lat, lon: known.lon }
  const [found] = await provider.geocode(location, language, signal).catch((thrown: unknown) => {
    throw thrown instanceof RouteError ? new RouteError({ ...thrown.failure, field }) : thrown
  })
  if (!found) throw new RouteError({ code: 'PLACE_NOT_FOUND', field, subject: location })
  if (isCached) await database.savePlace(tenant, location, found)
  return found
}

/** Reports a `RouteError` to the caller. Anything else is a bug, and Sluice hides its text. */
export async function withFailures(
  language: Language,
  requestId: string,
  work: () => ToolResult | Promise<ToolResult>,
): Promise<ToolResult> {
  try {
    return await work()
  } catch (thrown) {
    if (!(thrown instanceof RouteError)) throw thrown
    const failure: Failure = thrown.failure
    return toFailure([failure], language, requestId)
  }
}
