/**
 * Formats activities for tools: short rows for lists, all fields for one. Every row has the same fields, so that TOON
 * can fold them.
 */

import * as z from 'zod'
import type { Activity } from '../activity.ts'
import { round } from '../training.ts'

export interface ActivityRow {
  readonly id: string
  readonly date: string
  readonly sport_type: string
  readonly distance_km: number
  readonly duration_min: number
  readonly elevation_m: number
  readonly average_hr: number | null
}

export const toActivityRow = (each: Activity): ActivityRow => ({
  id: each.id,
  date: new Date(each.startedAt * 1000).toISOString().slice(0, 10),
  sport_type: each.sport,
  distance_km: round(each.distanceM / 1000),
  duration_min: Math.round(each.durationS / 60),
  elevation_m: Math.round(each.elevationM),
  average_hr: each.averageHr === undefined ? null : Math.round(each.averageHr),
})

export const toActivityDetail = (each: Activity): object => ({
  id: each.id,
  name: each.name,
  provider: each.provider,
  sport: each.sport,
  start: new Date(each.startedAt * 1000).toISOString(),
  duration_s: Math.round(each.durationS),
  distance_m: Math.round(each.distanceM),
  elevation_m: Math.round(each.elevationM),
  average_hr: each.averageHr ?? null,
  max_hr: each.maxHr ?? null,
  average_power: each.averagePower ?? null,
  calories: each.calories ?? null,
})

export const paceOf = ({ durationS, distanceM }: Activity): number | null =>
  distanceM > 0 ? round(durationS / (distanceM / 1000), 0) : null

export const activityId = z.string().min(1).max(100).describe('The id, as get_activities shows it')
/** Listing is public; calls need a caller. */
export const readOnlyTool = { annotations: { readOnlyHint: true, openWorldHint: false }, listed: true } as const
