/** Reads TCX files: laps with their totals. */

import { toSport } from '../activity.ts'
import type { ParsedActivity } from './read.ts'
import { UnreadableFile } from './read.ts'
import { average, childOf, findDeep, highest, listOf, numberOf, readXml, textOf, timeOf } from './xml.ts'

/** A training diary that is exported at once has many activities in one file. */
export function readTcx(name: string, text: string): readonly ParsedActivity[] {
  const root = childOf(readXml(name, text), 'TrainingCenterDatabase')
  const activities = listOf(childOf(root, 'Activities'))
    .flatMap((each) => listOf(childOf(each, 'Activity')))
    .flatMap((activity) => toActivity(activity) ?? [])
  if (activities.length === 0) throw new UnreadableFile(`${name}: the TCX file contains no activity`)
  return activities
}

function toActivity(activity: unknown): ParsedActivity | undefined {
  const laps = listOf(childOf(activity, 'Lap'))
  if (laps.length === 0) return undefined
  const sum = (of: string): number => laps.reduce((total: number, lap) => total + (numberOf(childOf(lap, of)) ?? 0), 0)
  const each = (of: string): readonly number[] =>
    laps.flatMap((lap) => numberOf(childOf(childOf(lap, of), 'Value')) ?? [])
  const watts = laps.flatMap((lap) => numberOf(findDeep(childOf(lap, 'Extensions'), 'AvgWatts')) ?? [])
  return {
    sport: toSport(textOf(childOf(activity, '@Sport'))),
    name: textOf(childOf(activity, 'Notes')),
    startedAt: Math.floor(timeOf(textOf(childOf(activity, 'Id'))) / 1000),
    durationS: sum('TotalTimeSeconds'),
    distanceM: Math.round(sum('DistanceMeters')),
    elevationM: 0,
    averageHr: average(each('AverageHeartRateBpm')),
    maxHr: highest(each('MaximumHeartRateBpm')),
    averagePower: average(watts),
    calories: sum('Calories') || undefined,
  }
}
