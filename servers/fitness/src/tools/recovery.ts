/** Tools for sleep and recovery, from the nights in imported files. */

import type { Tool } from 'sluice'
import { fail, tool } from 'sluice'
import { toon } from 'sluice/toon'
import * as z from 'zod'
import { dayMs, dayOf } from '../activity.ts'
import type { App } from '../app.ts'
import { trainingLogFor } from '../app.ts'
import type { TrainingLog } from '../archive.ts'
import { loadAssumptions } from '../assumptions.ts'
import type { Night } from '../night.ts'
import { clockTime, middleTime, minuteOf, recoveryOf, sleepScoreOf, targetSleepS } from '../recovery.ts'
import { loadOf, round, slopeOf } from '../training.ts'
import { readOnlyTool } from './activity-rows.ts'

const noNights =
  'No nights yet. Import files with sleep: FIT files of a watch, Garmin’s sleepData.json or Fitbit’s sleep-….json. Strava has no sleep.'
const advice = 'General guidance from simple rules, not medical advice.'
const utcOffset = z
  .number()
  .min(-12)
  .max(14)
  .default(0)
  .describe('Hours from UTC to the sleeper’s clock, such as 7; not needed for Fitbit')
const hours = (seconds: number | undefined): number | null => (seconds === undefined ? null : round(seconds / 3600, 2))
const isMadeUp = (nights: readonly Night[]): boolean => nights.some(({ provider }) => provider === 'synthetic')

const toRow = (night: Night): object => ({
  day: night.day,
  asleep_h: hours(night.asleepS),
  deep_h: hours(night.deepS),
  rem_h: hours(night.remS),
  awake_h: hours(night.awakeS),
  score: sleepScoreOf(night)?.score ?? null,
  device_score: night.deviceScore ?? null,
  resting_hr: night.restingHr ?? null,
  hrv_ms: night.hrvMs ?? null,
})

export function recoveryTools(app: App): readonly Tool[] {
  const today = (): string => dayOf(app.clock.now() / 1000)
  const yesterday = (): string => dayOf((app.clock.now() - dayMs) / 1000)
  async function stateOf(log: TrainingLog) {
    const activities = await log.list()
    const athlete = await log.athlete()
    const days = activities.length > 0 ? loadOf(activities, athlete, app.clock.now()) : []
    const nights = await log.nights(60)
    const tsb = days.at(-1)?.tsb
    const recovery = recoveryOf(nights, tsb, today(), yesterday())
    const isSynthetic = isMadeUp(nights) || activities.some(({ provider }) => provider === 'synthetic')
    const assumes = activities.length > 0 ? loadAssumptions(activities, athlete) : []
    return { days, nights, tsb, recovery, isSynthetic, assumes }
  }
  return [
    tool({
      name: 'analyze_sleep_quality',
      description:
        'A night as a score from 0 to 100, with its parts: duration, share of the time in bed, deep and REM sleep.',
      input: z.object({ day: z.iso.date().optional().describe('The day of waking up; by default the last night') }),
      ...readOnlyTool,
      async run({ day }, context) {
        const nights = await (await trainingLogFor(app, context)).nights(4000)
        if (nights.length === 0) return { synthetic: false, note: noNights, night: null }
        const night = day === undefined ? nights.find(sleepScoreOf) : nights.find((each) => each.day === day)
        if (!night) throw fail(day === undefined ? 'No night with sleep is stored.' : `No night to ${day} is stored.`)
        return {
          synthetic: night.provider === 'synthetic',
          night: toRow(night),
          parts: sleepScoreOf(night) ?? null,
          assumes: [`Eight hours are enough sleep. ${advice}`],
        }
      },
    }),
    tool({
      name: 'track_sleep_trends',
      description: 'Sleep night by night, its averages and its trend. Needs seven nights.',
      input: z.object({ nights: z.int().min(7).max(365).default(28) }),
      ...readOnlyTool,
      format: toon,
      async run({ nights: count }, context) {
        const found = (await (await trainingLogFor(app, context)).nights(count)).filter(
          ({ asleepS }) => asleepS !== undefined,
        )
        if (found.length < 7)
          return {
            synthetic: isMadeUp(found),
            note:
              found.length === 0 ? noNights : `Only ${found.length} nights with sleep are stored; a trend needs seven.`,
            nights: found.map(toRow),
          }
        const oldestFirst = [...found].reverse()
        const slept = oldestFirst.map(({ asleepS }) => (asleepS ?? 0) / 3600)
        const average = slept.reduce((sum, each) => sum + each, 0) / slept.length
        const slope = slopeOf(slept)
        return {
          synthetic: isMadeUp(found),
          average_h: round(average, 2),
          average_score: Math.round(
            oldestFirst.reduce((sum, each) => sum + (sleepScoreOf(each)?.score ?? 0), 0) / found.length,
          ),
          change_min_per_week: Math.round(slope * 60 * 7),
          direction: Math.abs(slope * 60 * 7) < 5 ? 'steady' : slope > 0 ? 'longer' : 'shorter',
          nights_under_7_h: slept.filter((each) => each < 7).length,
          nights: found.map(toRow),
        }
      },
    }),
    tool({
      name: 'calculate_recovery_score',
      description:
        'How recovered the athlete is today, from 0 to 100. From last night’s sleep, form (TSB), resting heart rate and heart-rate variability, as far as known.',
      ...readOnlyTool,
      async run(_, context) {
        const { recovery, isSynthetic, assumes } = await stateOf(await trainingLogFor(app, context))
        return {
          synthetic: isSynthetic,
          score: recovery.score,
          meaning: describeRecovery(recovery.score),
          parts: recovery.parts,
          missing: recovery.missing,
          ...(recovery.missing.includes('sleep') && { note: noNights }),
          assumes: [...assumes, advice],
        }
      },
    }),
    tool({
      name: 'suggest_rest_day',
      description: 'Whether today should be a rest day, an easy day or a normal one, with the reasons.',
      ...readOnlyTool,
      async run(_, context) {
        const { days, tsb, recovery, isSynthetic, assumes } = await stateOf(await trainingLogFor(app, context))
        const streak = trainingStreak(days.slice(0, -1).map(({ stress }) => stress))
        const reasons = [
          ...(tsb !== undefined && tsb < -25 ? [`Form is ${round(tsb)}: fatigue is far above fitness.`] : []),
          ...(recovery.score !== null && recovery.score < 40 ? [`Recovery is ${recovery.score} of 100.`] : []),
          ...(streak >= 6 ? [`There was training on each of the last ${streak} days.`] : []),
        ]
        const isEasy = (recovery.score !== null && recovery.score < 60) || (tsb !== undefined && tsb < -10)
        return {
          synthetic: isSynthetic,
          suggestion: reasons.length > 0 ? 'rest' : recovery.score === null ? 'unknown' : isEasy ? 'easy' : 'normal',
          reasons: reasons.length > 0 ? reasons : [describeRecovery(recovery.score)],
          recovery_score: recovery.score,
          form: tsb === undefined ? null : round(tsb),
          days_in_a_row: streak,
          missing: recovery.missing,
          assumes: [...assumes, advice],
        }
      },
    }),
    tool({
      name: 'optimize_sleep_schedule',
      description:
        'When to go to bed, from the usual time of getting up, the sleep that is missing and the training load.',
      input: z.object({ utc_offset_hours: utcOffset }),
      ...readOnlyTool,
      async run({ utc_offset_hours: offset }, context) {
        const { nights, tsb, isSynthetic } = await stateOf(await trainingLogFor(app, context))
        const timed = nights
          .filter(({ startedAt, endedAt }) => startedAt !== undefined && endedAt !== undefined)
          .slice(0, 28)
        if (timed.length < 3)
          return { synthetic: isSynthetic, note: timed.length === 0 ? noNights : 'Three nights with times are needed.' }
        const minutes = (of: (night: Night) => number | undefined): readonly number[] =>
          timed.map((night) => minuteOf(of(night) ?? 0, night.isLocalTime ? 0 : offset * 3600))
        const [bed = 0, up = 0] = [
          middleTime(minutes(({ startedAt }) => startedAt)),
          middleTime(minutes(({ endedAt }) => endedAt)),
        ]
        const week = nights.slice(0, 7).flatMap(({ asleepS }) => asleepS ?? [])
        const missingS =
          week.length === 0 ? 0 : Math.max(0, targetSleepS - week.reduce((sum, each) => sum + each, 0) / week.length)
        // Half an hour more at a time, because one night does not make up for a week.
        const moreMinutes =
          Math.min(60, Math.round(missingS / 60 / 2 / 5) * 5) + (tsb !== undefined && tsb < -20 ? 30 : 0)
        const neededMinutes = targetSleepS / 60 + 20 + moreMinutes
        return {
          synthetic: isSynthetic,
          usual_bedtime: clockTime(bed),
          usual_wake_time: clockTime(up),
          suggested_bedtime: clockTime(up - neededMinutes),
          time_in_bed_h: round(neededMinutes / 60, 2),
          assumes: [
            `Eight hours of sleep and 20 minutes to fall asleep${moreMinutes > 0 ? `, and ${moreMinutes} minutes more for missing sleep or hard training` : ''}.`,
            timed.some(({ isLocalTime }) => isLocalTime)
              ? 'Times of Fitbit are in your clock.'
              : `Times are UTC ${offset >= 0 ? '+' : '−'} ${Math.abs(offset)} h.`,
            advice,
          ],
        }
      },
    }),
  ]
}

function describeRecovery(score: number | null): string {
  if (score === null) return 'Unknown: there is neither sleep nor training to judge by.'
  if (score < 40) return 'Not recovered: rest or move easily.'
  if (score < 60) return 'Partly recovered: keep it easy.'
  if (score < 80) return 'Recovered: train as planned.'
  return 'Well recovered: a hard session is fine.'
}

function trainingStreak(stress: readonly number[]): number {
  let streak = 0
  for (const each of [...stress].reverse()) {
    if (each <= 0) break
    streak++
  }
  return streak
}
