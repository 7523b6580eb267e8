/** Reads FIT files of sports watches with Garmin's own decoder. */

import { Decoder, Stream } from '@garmin/fitsdk'
import { toSport } from '../activity.ts'
import type { Night } from '../night.ts'
import type { ParsedActivity } from './read.ts'
import type { SleepMessages } from './sleep.ts'
import { nightsFromFit } from './sleep.ts'
import { UnreadableFile } from './unreadable.ts'

interface Session {
  readonly startTime?: Date
  readonly sport?: string
  readonly subSport?: string
  readonly totalTimerTime?: number
  readonly totalElapsedTime?: number
  readonly totalDistance?: number
  readonly totalAscent?: number
  readonly avgHeartRate?: number
  readonly maxHeartRate?: number
  readonly avgPower?: number
  readonly totalCalories?: number
}

/** Returns the nights of a file without an activity; a file with one has none. */
export function readFitNights(name: string, bytes: Uint8Array): readonly Night[] {
  const messages = decode(name, bytes) as { sessionMesgs?: readonly Session[] } & SleepMessages
  return messages.sessionMesgs?.[0]?.startTime ? [] : nightsFromFit(messages)
}

function decode(name: string, bytes: Uint8Array): object {
  const decoder = new Decoder(Stream.fromBuffer(bytes))
  if (!decoder.checkIntegrity()) throw new UnreadableFile(`${name}: the FIT file is damaged`)
  // The points are not needed, because the device stores their totals.
  const { messages, errors } = decoder.read({ mergeHeartRates: false, expandComponents: false })
  if (errors.length > 0) throw new UnreadableFile(`${name}: the FIT file contains no activity`)
  return messages
}

export function readFit(name: string, bytes: Uint8Array): ParsedActivity {
  const session = (decode(name, bytes) as { sessionMesgs?: readonly Session[] }).sessionMesgs?.[0]
  if (!session?.startTime) throw new UnreadableFile(`${name}: the FIT file contains no activity`)
  return {
    sport: toSport(session.sport ?? ''),
    name: '',
    startedAt: Math.floor(session.startTime.getTime() / 1000),
    durationS: session.totalTimerTime ?? session.totalElapsedTime ?? 0,
    distanceM: session.totalDistance ?? 0,
    elevationM: session.totalAscent ?? 0,
    averageHr: session.avgHeartRate,
    maxHr: session.maxHeartRate,
    averagePower: session.avgPower,
    calories: session.totalCalories,
  }
}
