/**
 * The athlete's activities from Strava's API v3:
 * https://developers.strava.com/docs/reference/#api-Activities-getLoggedInAthleteActivities
 */

import type { Clock } from 'sluice'
import { fail } from 'sluice'
import * as z from 'zod'
import type { Activity } from '../activity.ts'
import { toSport } from '../activity.ts'
import type { TrainingLog } from '../archive.ts'
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

/** A margin for wrong clocks of watches: no activity is later than this. */
const marginS = 86_400

/**
 * Fetches newer activities first, then older ones. Both positions are saved after every page, so that an interrupted
 * sync continues where it stopped and skips nothing. Returns the number of fetched activities.
 */
export async function syncStrava(
  { clock }: { readonly clock: Clock },
  strava: Strava,
  log: TrainingLog,
  signal: AbortSignal,
  report: (count: number) => void,
): Promise<number> {
  const token = await strava.token(log)
  const now = Math.floor(clock.now() / 1000)
  let [added, pages] = [0, 0]
  const known = (await log.synced('strava')) ?? { completeBackTo: now + marginS, completeUntil: now }
  let { completeBackTo, completeUntil } = known
  async function take(query: Record<string, string>): Promise<readonly Activity[]> {
    pages++
    const page = await fetchPage(strava, token, query, signal)
    added += await log.add(page)
    report(added)
    return page
  }
  // Newer activities are complete only with their last page, because Strava does not promise their order.
  let isUpToDate = completeBackTo > now
  for (let page = 1; !isUpToDate && pages < maxPages; page++)
    isUpToDate = (await take({ after: String(completeUntil - marginS), page: String(page) })).length < perPage
  if (isUpToDate) completeUntil = now
  await log.setSynced('strava', { completeBackTo, completeUntil })
  while (completeBackTo > 0 && pages < maxPages) {
    const page = await take({ before: String(completeBackTo), page: '1' })
    const oldest = page.reduce((min, { startedAt }) => Math.min(min, startedAt), completeBackTo)
    // One second further, because several may start in the same second; no further if that returned nothing older.
    completeBackTo = page.length < perPage ? 0 : oldest + 1 < completeBackTo ? oldest + 1 : oldest
    await log.setSynced('strava', { completeBackTo, completeUntil })
  }
  return added
}

async function fetchPage(
  strava: Strava,
  token: string,
  query: Record<string, string>,
  signal: AbortSignal,
): Promise<readonly Activity[]> {
  const url = new URL(`${strava.settings.baseUrl}/api/v3/athlete/activities`)
  url.search = new URLSearchParams({ ...query, per_page: String(perPage) }).toString()
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${token}` },
    signal,
    redirect: 'error',
  }).catch(() => undefined)
  if (response?.status === 401)
    throw fail('Strava no longer accepts this connection. Connect it again with connect_provider.')
  if (response?.status === 429)
    throw fail(
      'Strava’s rate limit is reached; try again in 15 minutes. Earlier activities are stored, and the next call continues from there.',
    )
  const parsed = response?.ok ? z.array(summary).safeParse(await response.json().catch(() => undefined)) : undefined
  if (!parsed?.success)
    throw fail(
      'Strava returned an unexpected answer; try again later. Earlier activities are stored, and the next call continues from there.',
    )
  return parsed.data.map(toActivity)
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
