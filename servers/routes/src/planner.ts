/** From checked arguments to a planned route: names become points (saved, found before, or asked for), then the provider plans. */

import { randomUUID } from 'node:crypto'
import type { ToolResult, Work } from 'sluice'
import type { Planned } from './answer.ts'
import { toAnswer, toFailure, toJson } from './answer.ts'
import type { Database } from './database.ts'
import type { Failure } from './failure.ts'
import { RouteError } from './failure.ts'
import type { RouteInput, Spot } from './request.ts'
import { checkRequest, shown } from './request.ts'
import type { Language, Place, Provider } from './route.ts'
import { mapSome, nextTurn } from './turn.ts'

/** Places looked up at once. */
const locateWidth = 4

export interface Planner {
  readonly provider: Provider
  readonly database: Database
}

export async function plan(
  { provider, database }: Planner,
  input: RouteInput,
  work: Work,
  traffic: boolean,
): Promise<ToolResult> {
  const { call, signal } = work
  const requestId = String(call.id)
  const request = checkRequest(input, provider)
  if ('failures' in request) return toFailure(request.failures, request.language, requestId)
  const { mode, language, alternatives, departAt, arriveAt } = request
  return answered(language, requestId, async () => {
    if (traffic && !provider.hasTraffic) throw new RouteError({ code: 'TRAFFIC_NOT_AVAILABLE', subject: provider.name })
    const places = await mapSome(request.spots, locateWidth, (spot) =>
      locate({ provider, database }, spot, language, work),
    )
    work.progress(1, 2, places.map(({ name }) => name).join(' → '))
    const routes = await provider.route(
      {
        ...{ places, mode, language, alternatives, traffic },
        ...(departAt !== undefined && { departAt }),
        ...(arriveAt !== undefined && { arriveAt }),
      },
      signal,
    )
    const planned: Planned = { id: randomUUID(), requestId, provider, places, mode, language, routes }
    const json = toJson(planned)
    await database.keepRoute(call.tenant.id, planned.id, json)
    await nextTurn()
    return toAnswer(planned, json)
  })
}

/** A saved destination first, then what was found before, then the provider. */
export async function locate(
  { provider, database }: Planner,
  { field, at }: Spot,
  language: Language,
  { call, signal }: Work,
): Promise<Place> {
  if (typeof at !== 'string') return { name: shown(at), ...at }
  const tenant = call.tenant.id
  const known = (await database.destination(tenant, at)) ?? (await database.placeOf(tenant, at))
  if (known) return { name: known.name, lat: known.lat, lon: known.lon }
  const [found] = await provider.geocode(at, language, signal).catch((thrown: unknown) => {
    throw thrown instanceof RouteError ? new RouteError({ ...thrown.failure, field }) : thrown
  })
  if (!found) throw new RouteError({ code: 'PLACE_NOT_FOUND', field, subject: at })
  await database.remember(tenant, at, found)
  return found
}

/** What a `RouteError` says goes to the caller; anything else is a bug, and Sluice keeps its text inside. */
export async function answered(
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
