/** Says what a number assumes: values of the athlete that were never given, and activities without measurements. */

import type { Activity, Athlete } from './activity.ts'
import { defaultAthlete } from './activity.ts'

const names = {
  restingHr: ['resting heart rate', 'bpm', 'resting_hr'],
  maxHr: ['maximum heart rate', 'bpm', 'max_hr'],
  thresholdHr: ['threshold heart rate', 'bpm', 'threshold_hr'],
  ftp: ['threshold power (FTP)', 'W', 'ftp'],
} as const
type Value = keyof typeof names

/** A value that was stored before `given` existed counts as given if it is not the default. */
export const isGiven = (athlete: Athlete, value: Value): boolean =>
  athlete.given?.includes(value) ?? athlete[value] !== defaultAthlete[value]

export function athleteAssumptions(athlete: Athlete, values: readonly Value[]): readonly string[] {
  const assumed = values.filter((value) => !isGiven(athlete, value))
  if (assumed.length === 0) return []
  const list = assumed.map((value) => `${names[value][0]} ${athlete[value]} ${names[value][1]}`).join(', ')
  const fields = assumed.map((value) => names[value][2]).join(', ')
  return [`Not your own values but typical ones: ${list}. Give yours to calculate_personalized_zones (${fields}).`]
}

/** How the stress of each activity was found; `stressOf` decides in the same order. */
export function loadAssumptions(activities: readonly Activity[], athlete: Athlete): readonly string[] {
  const byPower = activities.filter(({ averagePower, sport }) => averagePower !== undefined && sport === 'ride')
  const byHeart = activities.filter((each) => !byPower.includes(each) && each.averageHr !== undefined)
  const guessed = activities.length - byPower.length - byHeart.length
  const used: Value[] = [
    ...(byPower.length > 0 ? (['ftp'] as const) : []),
    ...(byHeart.length > 0 ? (['restingHr', 'thresholdHr'] as const) : []),
  ]
  return [
    `Stress of ${activities.length} activities: ${byPower.length} by power, ${byHeart.length} by average heart rate, ${guessed} without either, counted as easy (50 an hour).`,
    ...athleteAssumptions(athlete, used),
  ]
}
