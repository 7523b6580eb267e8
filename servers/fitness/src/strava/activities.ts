/** The athlete's activities by Strava's API v3: https://developers.strava.com/docs/reference/#api-Activities-getLoggedInAthleteActivities */

import { fail } from 'sluice'
import * as z from 'zod'
import type { Activity } from '../activity.ts'
import { toSport } from '../activity.ts'
import type { Log } from '../archive.ts'
import type { Strava } from './oauth.ts'

const summary = z.object({
  id: z.number(),
  name: z.string().default(''),
  sport_type: z.string().optional(),
  type: z.string().optional(),
  start_date: z.string(),
  moving_time: z.number(),
  distance: z.number().default(0),
  total_elevation_gain: z.number().default(0),
  average_heartrate: z.number().optional(),
  max_heartrate: z.number().optional(),
  average_watts: z.number().optional(),
  kilojoules: z.number().optional(),
})
const perPage = 100
const maxPages = 50

/** What is new since the newest one here. Returns how many came. */
export async function syncStrava(
  strava: Strava,
  log: Log,
  signal: AbortSignal,
  report: (count: number) => void,
): Promise<number> {
  const token = await strava.token(log)
  const [newest] = await log.list({ provider: 'strava', limit: 1 })
  let added = 0
  for (let page = 1; page <= maxPages; page++) {
    const url = new URL(`${strava.settings.baseUrl}/api/v3/athlete/activities`)
    url.search = new URLSearchParams({
      page: String(page),
      per_page: String(perPage),
      ...(newest && { after: String(newest.startedAt) }),
    }).toString()
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${token}` },
      signal,
      redirect: 'error',
    }).catch(() => undefined)
    if (response?.status === 401)
      throw fail('Strava no longer accepts this connection. Connect it again with connect_provider.')
    if (response?.status === 429)
      throw fail('Strava takes no more requests for now; try again in 15 minutes. What came before is here.')
    const parsed = response?.ok ? z.array(summary).safeParse(await response.json().catch(() => undefined)) : undefined
    if (!parsed?.success) throw fail('Strava does not answer as it should; try again later. What came before is here.')
    added += await log.add(parsed.data.map(toActivity))
    report(added)
    if (parsed.data.length < perPage) break
  }
  return added
}

const toActivity = (each: z.infer<typeof summary>): Activity => ({
  id: `strava-${each.id}`,
  provider: 'strava',
  sport: toSport(each.sport_type ?? each.type ?? ''),
  name: each.name.toWellFormed().slice(0, 200),
  startedAt: Math.floor(Date.parse(each.start_date) / 1000),
  durationS: each.moving_time,
  distanceM: each.distance,
  elevationM: each.total_elevation_gain,
  averageHr: each.average_heartrate,
  maxHr: each.max_heartrate,
  averagePower: each.average_watts,
  calories: each.kilojoules,
})
