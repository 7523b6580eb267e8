/**
 * Sleep and recovery as numbers from 0 to 100. They are rules of thumb, not medicine, and each answer lists what they
 * were computed from.
 *
 * - Sleep: time asleep against eight hours (40 %), share of the time in bed (30 %; 85 % is full), and the share of deep
 *   and REM sleep (30 %; 40 % is full). Without stages the first two count more.
 * - Recovery: the average of last night's sleep, form (TSB −30 is 0, +10 is 100), resting heart rate against the last
 *   four weeks (10 points per beat above), and heart-rate variability against them.
 */

import type { Night } from './night.ts'
import { round } from './training.ts'

export const targetSleepS = 8 * 3600

export interface SleepScore {
  readonly score: number
  readonly duration: number
  readonly efficiency: number | null
  readonly stages: number | null
}

const limit = (value: number): number => Math.max(0, Math.min(100, value))

export function sleepScoreOf({ asleepS, awakeS, deepS, remS, startedAt, endedAt }: Night): SleepScore | undefined {
  if (asleepS === undefined || asleepS <= 0) return undefined
  const inBedS =
    awakeS !== undefined
      ? asleepS + awakeS
      : startedAt !== undefined && endedAt !== undefined
        ? endedAt - startedAt
        : undefined
  const duration = limit((asleepS / targetSleepS) * 100)
  const efficiency = inBedS && inBedS > 0 ? limit(((Math.min(1, asleepS / inBedS) - 0.6) / 0.25) * 100) : null
  const stages = deepS !== undefined && remS !== undefined ? limit(((deepS + remS) / asleepS / 0.4) * 100) : null
  const parts = [
    [duration, 0.4],
    [efficiency, 0.3],
    [stages, 0.3],
  ] as const
  const known = parts.flatMap(([value, weight]) => (value === null ? [] : [{ value, weight }]))
  const weight = known.reduce((sum, each) => sum + each.weight, 0)
  const total = known.reduce((sum, each) => sum + each.value * each.weight, 0)
  return {
    score: Math.round(total / weight),
    duration: Math.round(duration),
    efficiency: efficiency === null ? null : Math.round(efficiency),
    stages: stages === null ? null : Math.round(stages),
  }
}

export interface Recovery {
  readonly score: number | null
  readonly parts: readonly { readonly part: string; readonly score: number; readonly from: string }[]
  readonly missing: readonly string[]
}

/** `nights` are newest first. Only a night of today or yesterday says something about today. */
export function recoveryOf(
  nights: readonly Night[],
  tsb: number | undefined,
  today: string,
  yesterday: string,
): Recovery {
  const last = nights.find(({ day }) => day === today || day === yesterday)
  const before = nights.filter((night) => night !== last).slice(0, 28)
  const sleep = last && sleepScoreOf(last)
  const baseline = (of: (night: Night) => number | undefined): number | undefined => {
    const known = before.flatMap((night) => of(night) ?? [])
    return known.length < 3 ? undefined : known.reduce((sum, value) => sum + value, 0) / known.length
  }
  const usualHr = baseline(({ restingHr }) => restingHr)
  const usualHrv = baseline(({ hrvMs }) => hrvMs)
  const hr = last?.restingHr
  const hrv = last?.hrvMs
  const parts = [
    sleep && { part: 'sleep', score: sleep.score, from: `night to ${last?.day}` },
    tsb !== undefined && { part: 'form', score: Math.round(limit(((tsb + 30) / 40) * 100)), from: `TSB ${round(tsb)}` },
    hr !== undefined &&
      usualHr !== undefined && {
        part: 'resting heart rate',
        score: Math.round(limit(100 - 10 * Math.max(0, hr - usualHr))),
        from: `${round(hr)} bpm, usually ${round(usualHr)}`,
      },
    hrv !== undefined &&
      usualHrv !== undefined && {
        part: 'heart-rate variability',
        score: Math.round(limit(100 * Math.min(1, hrv / usualHrv) ** 2)),
        from: `${round(hrv)} ms, usually ${round(usualHrv)}`,
      },
  ].filter((part) => part !== false && part !== undefined)
  const missing = ['sleep', 'form', 'resting heart rate', 'heart-rate variability'].filter(
    (name) => !parts.some(({ part }) => part === name),
  )
  const score = parts.length === 0 ? null : Math.round(parts.reduce((sum, part) => sum + part.score, 0) / parts.length)
  return { score, parts, missing }
}

/** Returns minutes after midnight, from 0 to 1439. */
export const minuteOf = (seconds: number, offsetS: number): number =>
  Math.floor(((((seconds + offsetS) % 86_400) + 86_400) % 86_400) / 60)

/** The middle of times of day, which go round at midnight. */
export function middleTime(minutes: readonly number[]): number | undefined {
  if (minutes.length === 0) return undefined
  const angle = (minute: number): number => (minute / 1440) * 2 * Math.PI
  const x = minutes.reduce((sum, minute) => sum + Math.cos(angle(minute)), 0)
  const y = minutes.reduce((sum, minute) => sum + Math.sin(angle(minute)), 0)
  return Math.round((((Math.atan2(y, x) / (2 * Math.PI)) * 1440 + 1440) % 1440) / 5) * 5
}

export const clockTime = (minute: number): string => {
  const wrapped = ((minute % 1440) + 1440) % 1440
  return `${String(Math.floor(wrapped / 60)).padStart(2, '0')}:${String(wrapped % 60).padStart(2, '0')}`
}
