/** Tools that analyse activities: load, trends, comparisons, zones and predictions. */

import type { Tool } from 'sluice'
import { fail, tool } from 'sluice'
import { toon } from 'sluice/toon'
import * as z from 'zod'
import type { Athlete } from '../activity.ts'
import { sports } from '../activity.ts'
import { trainingLoad } from '../app/training-load.ts'
import type { App } from '../app.ts'
import { findActivity, isSynthetic, noActivities, trainingLogFor } from '../app.ts'
import { athleteAssumptions, isGiven, loadAssumptions } from '../assumptions.ts'
import { heartZones, loadOf, powerZones, riegel, round, scoreOf, slopeOf, stressOf } from '../training.ts'
import { activityId, paceOf, readOnlyTool, toActivityDetail } from './activity-rows.ts'

const heartRate = z.int().min(25).max(240)
const zoneValues = ['restingHr', 'maxHr', 'thresholdHr', 'ftp'] as const

export function analysisTools(app: App): readonly Tool[] {
  return [
    tool({
      name: 'analyze_training_load',
      description:
        'Fitness (CTL, 42 days), fatigue (ATL, 7 days) and form (TSB) day by day, and what today’s form means.',
      input: z.object({ days: z.int().min(1).max(365).default(28) }),
      ...readOnlyTool,
      format: toon,
      ui: trainingLoad,
      async run({ days }, context) {
        const log = await trainingLogFor(app, context)
        const activities = await log.list()
        if (activities.length === 0) return { synthetic: false, note: noActivities, days: [] }
        const athlete = await log.athlete()
        const all = loadOf(activities, athlete, app.clock.now())
        const today = all.at(-1)
        return {
          synthetic: isSynthetic(activities),
          today,
          meaning: describeBalance(today?.tsb ?? 0),
          assumes: loadAssumptions(activities, athlete),
          chart: 'chart://training-load',
          days: all.slice(-days),
        }
      },
    }),
    tool({
      name: 'analyze_performance_trends',
      description:
        'Whether a number rises or falls, week by week. A pace belongs to one sport, by default running, and gets faster or slower.',
      input: z.object({
        timeframe: z.enum(['month', 'quarter', 'year']).default('quarter'),
        metric: z.enum(['distance', 'duration', 'pace', 'heart_rate', 'stress']).default('distance'),
        sport_type: z.enum(sports).optional(),
      }),
      ...readOnlyTool,
      format: toon,
      async run({ timeframe, metric, sport_type: asked }, context) {
        // A ride is always faster than a run, so a pace over all sports would only show the mix of sports.
        const sport = asked ?? (metric === 'pace' ? 'run' : undefined)
        const log = await trainingLogFor(app, context)
        const athlete = await log.athlete()
        const weeks = { month: 5, quarter: 13, year: 52 }[timeframe]
        const now = Math.floor(app.clock.now() / 1000)
        const found = await log.list({ sport, after: now - weeks * 7 * 86_400 })
        const rows = Array.from({ length: weeks }, (_, at) => {
          const from = now - (weeks - at) * 7 * 86_400
          const some = found.filter(({ startedAt }) => startedAt >= from && startedAt < from + 7 * 86_400)
          const sum = (of: (each: (typeof some)[number]) => number): number =>
            some.reduce((total, each) => total + of(each), 0)
          const metres = sum((each) => each.distanceM)
          const beating = some.filter(({ averageHr }) => averageHr !== undefined).length
          // A week of rest has no pace and no heart rate; a zero would pull the trend down.
          const value = {
            distance: metres / 1000,
            duration: sum((each) => each.durationS) / 3600,
            pace: metres > 0 ? sum((each) => (each.distanceM > 0 ? each.durationS : 0)) / (metres / 1000) : null,
            heart_rate: beating > 0 ? sum((each) => each.averageHr ?? 0) / beating : null,
            stress: sum((each) => stressOf(each, athlete)),
          }[metric]
          return {
            week: new Date(from * 1000).toISOString().slice(0, 10),
            count: some.length,
            value: value === null ? null : round(value, 2),
          }
        })
        const slope = slopeOf(rows.map(({ value }) => value))
        return {
          metric,
          ...(sport && { sport_type: sport }),
          synthetic: isSynthetic(found),
          ...(found.length === 0 && (await log.count()) === 0 && { note: noActivities }),
          unit: { distance: 'km', duration: 'h', pace: 's/km', heart_rate: 'bpm', stress: 'TSS' }[metric],
          change_per_week: round(slope, 3),
          direction: Math.abs(slope) < 1e-3 ? 'steady' : directions(metric)[slope > 0 ? 0 : 1],
          weeks: rows,
        }
      },
    }),
    tool({
      name: 'compare_activities',
      description: 'Two activities side by side.',
      input: z.object({ activity_id: activityId, other_id: activityId }),
      ...readOnlyTool,
      format: toon,
      async run({ activity_id: one, other_id: other }, context) {
        const log = await trainingLogFor(app, context)
        const [a, b] = [await findActivity(log, one), await findActivity(log, other)]
        const measures = [
          ['distance_m', 'distanceM'],
          ['duration_s', 'durationS'],
          ['elevation_m', 'elevationM'],
          ['average_hr', 'averageHr'],
        ] as const
        const rows = measures.map(([measure, of]) => compareMeasure(measure, a[of], b[of]))
        return {
          synthetic: isSynthetic([a, b]),
          first: toActivityDetail(a),
          second: toActivityDetail(b),
          comparison: [...rows, compareMeasure('pace_s_per_km', paceOf(a), paceOf(b))],
        }
      },
    }),
    tool({
      name: 'calculate_fitness_score',
      description: 'One number from 0 to 100: fitness, regularity and trend of the last twelve weeks.',
      ...readOnlyTool,
      async run(_, context) {
        const log = await trainingLogFor(app, context)
        const activities = await log.list()
        if (activities.length === 0) return { synthetic: false, note: noActivities, score: null }
        const athlete = await log.athlete()
        const score = scoreOf(loadOf(activities, athlete, app.clock.now()))
        return { synthetic: isSynthetic(activities), ...score, assumes: loadAssumptions(activities, athlete) }
      },
    }),
    tool({
      name: 'calculate_personalized_zones',
      description: 'Heart-rate and power zones. The given values are stored for the athlete.',
      input: z.object({
        name: z.string().min(1).max(100).optional(),
        resting_hr: heartRate.optional(),
        max_hr: heartRate.optional(),
        threshold_hr: heartRate.optional(),
        ftp: z.int().min(30).max(700).optional(),
      }),
      annotations: { idempotentHint: true, destructiveHint: false },
      listed: true,
      format: toon,
      async run({ name, resting_hr: restingHr, max_hr: maxHr, threshold_hr: thresholdHr, ftp }, context) {
        const log = await trainingLogFor(app, context)
        const given = { restingHr, maxHr, thresholdHr, ftp }
        const change = (before: Athlete): Athlete => {
          const athlete: Athlete = {
            given: zoneValues.filter((value) => given[value] !== undefined || isGiven(before, value)),
            name: name ?? before.name,
            restingHr: restingHr ?? before.restingHr,
            maxHr: maxHr ?? before.maxHr,
            thresholdHr: thresholdHr ?? before.thresholdHr,
            ftp: ftp ?? before.ftp,
          }
          if (!(athlete.restingHr < athlete.thresholdHr && athlete.thresholdHr < athlete.maxHr))
            throw fail('Resting, threshold and maximum heart rate must rise in that order.')
          return athlete
        }
        const isChange = name !== undefined || Object.values(given).some((value) => value !== undefined)
        const athlete = isChange ? await log.updateAthlete(change) : change(await log.athlete())
        return {
          heart_rate: heartZones(athlete),
          power: powerZones(athlete),
          method: 'Heart rate: shares of the heart-rate reserve (Karvonen). Power: shares of FTP (Coggan).',
          assumes: athleteAssumptions(athlete, ['restingHr', 'maxHr', 'ftp']),
        }
      },
    }),
    tool({
      name: 'predict_performance',
      description:
        'The time over another distance, from the best run of the last 90 days (Riegel) or from a given time.',
      input: z.object({
        distance_m: z.number().min(400).max(200_000).describe('The distance to predict'),
        from_distance_m: z.number().min(400).max(200_000).optional(),
        from_time_s: z.number().min(30).max(200_000).optional(),
      }),
      ...readOnlyTool,
      async run({ distance_m: over, from_distance_m: metres, from_time_s: time }, context) {
        if ((metres === undefined) !== (time === undefined))
          throw fail('Give both from_distance_m and from_time_s, or neither.')
        if (metres !== undefined && time !== undefined)
          return { synthetic: false, ...predictTime(over, metres, time, 'what was given') }
        const log = await trainingLogFor(app, context)
        const runs = await log.list({ sport: 'run', after: Math.floor(app.clock.now() / 1000) - 90 * 86_400 })
        const best = runs
          .filter(({ distanceM, durationS }) => distanceM >= 1500 && durationS > 0)
          .sort((a, b) => riegel(a.durationS, a.distanceM, over) - riegel(b.durationS, b.distanceM, over))[0]
        if (!best && (await log.count()) === 0) throw fail(noActivities)
        if (!best) throw fail('No run of 1.5 km or more in the last 90 days to predict from.')
        return { synthetic: isSynthetic([best]), ...predictTime(over, best.distanceM, best.durationS, best.id) }
      },
    }),
  ]
}

function predictTime(over: number, metres: number, seconds: number, from: string): object {
  const total = Math.round(riegel(seconds, metres, over))
  return {
    distance_m: over,
    predicted_s: total,
    predicted: [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60]
      .map((part) => String(part).padStart(2, '0'))
      .join(':'),
    from,
    formula: 'T2 = T1 × (D2 / D1)^1.06',
  }
}

/** Fewer seconds per kilometre are faster; "down" would be misleading. */
const directions = (metric: string): readonly [rising: string, falling: string] =>
  metric === 'pace' ? ['slower', 'faster'] : ['up', 'down']

function describeBalance(tsb: number): string {
  if (tsb < -30) return 'Very tired: rest, or the risk of injury and illness rises.'
  if (tsb < -10) return 'Building: tired, and getting fitter.'
  if (tsb <= 5) return 'Balanced.'
  if (tsb <= 25) return 'Fresh: ready to race.'
  return 'Very fresh: fitness is being lost.'
}

interface Comparison {
  readonly measure: string
  readonly first: number | null
  readonly second: number | null
  readonly difference: number | null
}

/** Compares a measure only if both activities have it. */
const compareMeasure = (measure: string, a: number | null | undefined, b: number | null | undefined): Comparison => ({
  measure,
  first: a == null ? null : round(a),
  second: b == null ? null : round(b),
  difference: a == null || b == null ? null : round(b - a),
})
