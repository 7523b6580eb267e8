/**
 * Nights from the files that watches and providers export: FIT (sleep, variability, resting heart rate), Garmin's
 * `…sleepData.json` and Fitbit's `sleep-….json`.
 */

import * as z from 'zod'
import { dayOf } from '../activity.ts'
import type { Night } from '../night.ts'
import { mergeNights, toNight } from '../night.ts'
import { UnreadableFile } from './unreadable.ts'
import { timeOf } from './xml.ts'

/** The messages of a FIT file that say something about a night. */
export interface SleepMessages {
  readonly sleepLevelMesgs?: readonly { readonly timestamp?: Date; readonly sleepLevel?: string | number }[]
  readonly sleepAssessmentMesgs?: readonly { readonly overallSleepScore?: number }[]
  readonly hrvStatusSummaryMesgs?: readonly { readonly timestamp?: Date; readonly lastNightAverage?: number }[]
  readonly monitoringHrDataMesgs?: readonly {
    readonly timestamp?: Date
    readonly restingHeartRate?: number
    readonly currentDayRestingHeartRate?: number
  }[]
}

const seconds = (date: Date): number => Math.floor(date.getTime() / 1000)
const provider = 'files' as const
/** A level lasts until the next message; a longer gap was not measured. */
const maxLevelS = 3 * 3600

export function nightsFromFit(messages: SleepMessages): readonly Night[] {
  const nights = new Map<string, Night>()
  const add = (night: Night): void => {
    nights.set(night.day, mergeNights(nights.get(night.day), night))
  }
  const levels = (messages.sleepLevelMesgs ?? []).flatMap(({ timestamp, sleepLevel }) =>
    timestamp ? [{ at: seconds(timestamp), level: String(sleepLevel) }] : [],
  )
  const [first, last] = [levels[0], levels.at(-1)]
  if (first && last && last.at > first.at) {
    const spent = (level: string): number =>
      levels.reduce((sum, each, index) => {
        const next = levels[index + 1]
        return next && each.level === level ? sum + Math.min(maxLevelS, Math.max(0, next.at - each.at)) : sum
      }, 0)
    const [deepS, remS, lightS, awakeS] = [spent('deep'), spent('rem'), spent('light'), spent('awake')]
    const deviceScore = messages.sleepAssessmentMesgs?.[0]?.overallSleepScore
    add(
      toNight({
        ...{ day: dayOf(last.at), provider, startedAt: first.at, endedAt: last.at },
        ...{ deepS, remS, lightS, awakeS, asleepS: deepS + remS + lightS, deviceScore },
      }),
    )
  }
  for (const { timestamp, lastNightAverage } of messages.hrvStatusSummaryMesgs ?? [])
    if (timestamp && lastNightAverage)
      add(toNight({ day: dayOf(seconds(timestamp)), provider, hrvMs: lastNightAverage }))
  for (const { timestamp, currentDayRestingHeartRate, restingHeartRate } of messages.monitoringHrDataMesgs ?? []) {
    const restingHr = currentDayRestingHeartRate ?? restingHeartRate
    if (timestamp && restingHr) add(toNight({ day: dayOf(seconds(timestamp)), provider, restingHr }))
  }
  return [...nights.values()]
}

const duration = z.number().min(0).max(86_400).optional()
const day = z.iso.date()
const garminNight = z.object({
  calendarDate: day,
  sleepStartTimestampGMT: z.string().max(40).optional(),
  sleepEndTimestampGMT: z.string().max(40).optional(),
  deepSleepSeconds: duration,
  lightSleepSeconds: duration,
  remSleepSeconds: duration,
  awakeSleepSeconds: duration,
  sleepScores: z.object({ overallScore: z.number().optional() }).optional(),
  restingHeartRate: z.number().min(20).max(200).optional(),
  avgOvernightHrv: z.number().min(1).max(400).optional(),
})
const stage = z.object({ minutes: z.number().min(0).max(1440) }).optional()
const fitbitNight = z.object({
  dateOfSleep: day,
  startTime: z.string().max(40),
  endTime: z.string().max(40),
  minutesAsleep: z.number().min(0).max(1440),
  minutesAwake: z.number().min(0).max(1440).optional(),
  levels: z.object({ summary: z.object({ deep: stage, rem: stage, light: stage, wake: stage }) }).optional(),
  isMainSleep: z.boolean().optional(),
  mainSleep: z.boolean().optional(),
})
const maxNights = 20_000

/** Returns the nights that have the form of one of the two; others are left out. */
export function nightsFromJson(name: string, text: string): readonly Night[] {
  const entries = parseArray(name, text)
  const found = entries.slice(0, maxNights).flatMap((entry) => {
    const garmin = garminNight.safeParse(entry)
    if (garmin.success) return [fromGarmin(garmin.data)]
    const fitbit = fitbitNight.safeParse(entry)
    // A nap belongs to the same day as the night, and would replace it.
    const isNap = fitbit.success && (fitbit.data.isMainSleep ?? fitbit.data.mainSleep) === false
    return fitbit.success && !isNap ? [fromFitbit(fitbit.data)] : []
  })
  if (found.length === 0) throw new UnreadableFile(`${name}: it contains no sleep of Garmin or Fitbit`)
  return found
}

function parseArray(name: string, text: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(text)
    if (Array.isArray(parsed)) return parsed
    // A single night, or the answer of Fitbit's API.
    const { sleep } = Object(parsed) as { sleep?: unknown }
    return Array.isArray(sleep) ? sleep : [parsed]
  } catch {
    throw new UnreadableFile(`${name}: it is not JSON`)
  }
}

const epoch = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  const at = timeOf(text)
  return Number.isNaN(at) ? undefined : Math.floor(at / 1000)
}

function fromGarmin(night: z.infer<typeof garminNight>): Night {
  const { deepSleepSeconds: deepS, lightSleepSeconds: lightS, remSleepSeconds: remS } = night
  const isKnown = deepS !== undefined || lightS !== undefined || remS !== undefined
  return toNight({
    ...{ day: night.calendarDate, provider, deepS, lightS, remS, awakeS: night.awakeSleepSeconds },
    asleepS: isKnown ? (deepS ?? 0) + (lightS ?? 0) + (remS ?? 0) : undefined,
    startedAt: epoch(night.sleepStartTimestampGMT),
    endedAt: epoch(night.sleepEndTimestampGMT),
    deviceScore: night.sleepScores?.overallScore,
    restingHr: night.restingHeartRate,
    hrvMs: night.avgOvernightHrv,
  })
}

function fromFitbit(night: z.infer<typeof fitbitNight>): Night {
  const { deep, rem, light, wake } = night.levels?.summary ?? {}
  const toSeconds = (minutes: number | undefined): number | undefined =>
    minutes === undefined ? undefined : minutes * 60
  return toNight({
    ...{ day: night.dateOfSleep, provider, isLocalTime: true },
    startedAt: epoch(night.startTime),
    endedAt: epoch(night.endTime),
    asleepS: night.minutesAsleep * 60,
    awakeS: toSeconds(wake?.minutes ?? night.minutesAwake),
    deepS: toSeconds(deep?.minutes),
    remS: toSeconds(rem?.minutes),
    lightS: toSeconds(light?.minutes),
  })
}
