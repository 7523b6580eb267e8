/** Activities as tools show them: short for lists, whole for one. The same fields in every row, so that TOON can fold them. */

import * as z from 'zod'
import type { Activity } from '../activity.ts'
import { round } from '../training.ts'

export interface Row {
  readonly id: string
  readonly day: string
  readonly sport: string
  readonly km: number
  readonly min: number
  readonly hr: number
}

export const toRow = ({ id, startedAt, sport, distanceM, durationS, averageHr }: Activity): Row => ({
  id,
  day: new Date(startedAt * 1000).toISOString().slice(0, 10),
  sport,
  km: round(distanceM / 1000, 2),
  min: round(durationS / 60),
  hr: Math.round(averageHr ?? 0),
})

export const toDetail = (each: Activity): object => ({
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
/** Everybody may know what there is; calls need to be somebody's. */
export const reading = { annotations: { readOnlyHint: true, openWorldHint: false }, listed: true } as const
