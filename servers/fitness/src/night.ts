/** A night of sleep, and what watches measure in it. Its day is the one of waking up. */

import type { ProviderName } from './activity.ts'

export interface Night {
  /** `2026-11-16` */
  readonly day: string
  readonly provider: ProviderName
  /** Seconds since the epoch, of going to bed and of getting up. */
  readonly startedAt: number | undefined
  readonly endedAt: number | undefined
  /** Whether the two are in the clock of the sleeper, as Fitbit writes them, and not in UTC. */
  readonly isLocalTime: boolean
  readonly asleepS: number | undefined
  readonly deepS: number | undefined
  readonly remS: number | undefined
  readonly lightS: number | undefined
  readonly awakeS: number | undefined
  /** The score that the watch gave, from 0 to 100. */
  readonly deviceScore: number | undefined
  readonly restingHr: number | undefined
  /** Heart-rate variability (RMSSD) of the night, in milliseconds. */
  readonly hrvMs: number | undefined
}

const empty: Omit<Night, 'day' | 'provider'> = {
  ...{ startedAt: undefined, endedAt: undefined, isLocalTime: false, asleepS: undefined, deepS: undefined },
  ...{ remS: undefined, lightS: undefined, awakeS: undefined, deviceScore: undefined },
  ...{ restingHr: undefined, hrvMs: undefined },
}

export const toNight = (known: Pick<Night, 'day' | 'provider'> & Partial<Night>): Night => ({ ...empty, ...known })

/** Watches write sleep, variability and resting heart rate into several files; a later file adds to the night. */
export function mergeNights(before: Night | undefined, after: Night): Night {
  if (!before) return after
  const known = Object.fromEntries(Object.entries(after).filter(([, value]) => value !== undefined))
  const isSleep = after.startedAt !== undefined
  return { ...before, ...known, isLocalTime: isSleep ? after.isLocalTime : before.isLocalTime }
}
