/** The data types: activities, athletes and goals. Units are metres, seconds, beats per minute and watts. */

export const sports = ['run', 'ride', 'swim', 'hike', 'walk', 'ski', 'row', 'strength', 'other'] as const
export type Sport = (typeof sports)[number]

export const providers = ['strava', 'files', 'synthetic'] as const
export type ProviderName = (typeof providers)[number]

export interface Activity {
  readonly id: string
  readonly provider: ProviderName
  readonly sport: Sport
  readonly name: string
  /** Seconds since the epoch. */
  readonly startedAt: number
  readonly durationS: number
  readonly distanceM: number
  readonly elevationM: number
  readonly averageHr: number | undefined
  readonly maxHr: number | undefined
  readonly averagePower: number | undefined
  readonly calories: number | undefined
}

export interface Athlete {
  readonly name: string
  readonly restingHr: number
  readonly maxHr: number
  /** Beats per minute that the athlete can hold for an hour. */
  readonly thresholdHr: number
  /** Watts that the athlete can hold for an hour. */
  readonly ftp: number
  /** The values that the athlete gave; the others are typical ones. */
  readonly given?: readonly string[]
}

/** Used until the athlete's own values are set. */
export const defaultAthlete: Athlete = { name: 'Athlete', restingHr: 55, maxHr: 190, thresholdHr: 168, ftp: 220 }

export const goalTypes = ['distance', 'time', 'frequency', 'performance', 'custom'] as const
export interface Goal {
  readonly id: string
  readonly title: string
  readonly type: (typeof goalTypes)[number]
  readonly target: number
  /** Days, `2026-11-16`. */
  readonly from: string
  readonly until: string
  readonly sport: Sport | undefined
}

/**
 * Identifies an activity by sport and minute, because two starts of one sport in a minute do not occur. So the same
 * activity from a watch, an export and a provider counts once.
 */
export const fingerprintOf = ({ sport, startedAt }: Pick<Activity, 'sport' | 'startedAt'>): string =>
  `${sport} ${Math.floor(startedAt / 60)}`

export const dayOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10)
export const dayMs = 86_400_000

/** Maps the names that files, providers and people use to a sport. */
export function toSport(text: string): Sport {
  const word = text.toLowerCase().replace(/[^a-z]/g, '')
  return sportFamilies.find(([, known]) => known.test(word))?.[0] ?? 'other'
}
const sportFamilies: readonly (readonly [Sport, RegExp])[] = [
  ['run', /run|jog/],
  ['ride', /ride|cycl|bik|velo|gravel/],
  ['swim', /swim/],
  ['hike', /hik|mountaineer|trek/],
  ['ski', /ski|snow/],
  ['row', /row|paddl|kayak|canoe/],
  ['walk', /walk/],
  ['strength', /strength|weight|gym|training|workout|crossfit/],
]
