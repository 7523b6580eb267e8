/**
 * The formulas, each as it is published.
 *
 * - Stress of one activity: hours × IF² × 100, where IF is power / FTP, or the share of the heart-rate reserve at
 *   threshold (Coggan; Karvonen for the reserve). Without either, an easy hour counts 50.
 * - Fitness (CTL) and fatigue (ATL): averages that follow each day by 1/42 and 1/7 of the difference; form (TSB) is
 *   yesterday's CTL − ATL (Banister; Coggan).
 * - Time over another distance: T₂ = T₁ × (D₂ / D₁)^1.06 (Riegel, 1981).
 */

import type { Activity, Athlete } from './activity.ts'
import { dayMs, dayOf } from './activity.ts'

export function stressOf({ durationS, averagePower, averageHr, sport }: Activity, athlete: Athlete): number {
  const hours = durationS / 3600
  const reserve = athlete.thresholdHr - athlete.restingHr
  const intensity =
    averagePower !== undefined && sport === 'ride'
      ? averagePower / athlete.ftp
      : averageHr !== undefined && reserve > 0
        ? Math.max(0, averageHr - athlete.restingHr) / reserve
        : Math.SQRT1_2
  return hours * Math.min(intensity, 1.5) ** 2 * 100
}

export interface Day {
  readonly day: string
  readonly stress: number
  readonly ctl: number
  readonly atl: number
  readonly tsb: number
}

const fitnessDays = 42
const fatigueDays = 7

/** Returns every day up to today, including rest days, because fatigue falls on those. */
export function loadOf(activities: readonly Activity[], athlete: Athlete, nowMs: number): readonly Day[] {
  const stress = new Map<number, number>()
  for (const each of activities) {
    const day = Math.floor((each.startedAt * 1000) / dayMs)
    stress.set(day, (stress.get(day) ?? 0) + stressOf(each, athlete))
  }
  const first = activities.reduce((min, { startedAt }) => Math.min(min, startedAt * 1000), nowMs)
  const days: Day[] = []
  let [ctl, atl] = [0, 0]
  for (let at = Math.floor(first / dayMs); at <= Math.floor(nowMs / dayMs); at++) {
    const today = stress.get(at) ?? 0
    const tsb = ctl - atl
    ctl += (today - ctl) / fitnessDays
    atl += (today - atl) / fatigueDays
    days.push({ day: dayOf(at * 86_400), stress: round(today), ctl: round(ctl), atl: round(atl), tsb: round(tsb) })
  }
  return days
}

export const riegel = (seconds: number, metres: number, overMetres: number): number =>
  seconds * (overMetres / metres) ** 1.06

/** Zones as shares of the heart-rate reserve (Karvonen) and of FTP (Coggan). */
export const heartZones = ({ restingHr, maxHr }: Athlete): readonly Zone[] =>
  zones([0.5, 0.6, 0.7, 0.8, 0.9, 1], (share) => restingHr + share * (maxHr - restingHr), [
    'recovery',
    'endurance',
    'tempo',
    'threshold',
    'maximum',
  ])
export const powerZones = ({ ftp }: Athlete): readonly Zone[] =>
  zones([0, 0.55, 0.75, 0.9, 1.05, 1.2, 1.5], (share) => share * ftp, [
    'recovery',
    'endurance',
    'tempo',
    'threshold',
    'VO2max',
    'anaerobic',
  ])

export interface Zone {
  readonly zone: number
  readonly name: string
  readonly from: number
  readonly to: number
}
const zones = (shares: readonly number[], of: (share: number) => number, names: readonly string[]): readonly Zone[] =>
  names.map((name, at) => ({
    zone: at + 1,
    name,
    from: Math.round(of(shares[at] ?? 0)),
    to: Math.round(of(shares[at + 1] ?? 1)),
  }))

/**
 * Returns 0 to 100 from fitness (CTL; 100 is a lot for an amateur), regularity (training weeks of the last twelve) and
 * trend.
 */
export function scoreOf(days: readonly Day[]): {
  readonly score: number
  readonly fitness: number
  readonly regularity: number
  readonly trend: number
} {
  const last = days.at(-1)
  const monthAgo = days.at(-29)
  const weeks = Array.from({ length: 12 }, (_, week) =>
    days.slice(-7 * (week + 1), week === 0 ? undefined : -7 * week).some(({ stress }) => stress > 0),
  )
  const fitness = Math.min(100, last?.ctl ?? 0)
  const regularity = (weeks.filter(Boolean).length / 12) * 100
  const trend = Math.max(0, Math.min(100, 50 + 5 * ((last?.ctl ?? 0) - (monthAgo?.ctl ?? 0))))
  return {
    score: Math.round(0.5 * fitness + 0.3 * regularity + 0.2 * trend),
    fitness: round(fitness),
    regularity: round(regularity),
    trend: round(trend),
  }
}

/** Returns the slope of the least-squares line through evenly spaced values. Gaps are ignored. */
export function slopeOf(values: readonly (number | null)[]): number {
  const known = values.flatMap((value, at) => (value === null ? [] : [{ at, value }]))
  const mean = (of: (each: (typeof known)[number]) => number): number =>
    known.reduce((sum, each) => sum + of(each), 0) / Math.max(1, known.length)
  const [middle, average] = [mean(({ at }) => at), mean(({ value }) => value)]
  const under = mean(({ at }) => (at - middle) ** 2)
  return under === 0 ? 0 : mean(({ at, value }) => (at - middle) * (value - average)) / under
}

export const round = (value: number, digits = 1): number => Math.round(value * 10 ** digits) / 10 ** digits
