/** What an athlete did, said and wants: the shapes everything else works on. Metres, seconds, beats a minute, watts. */

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
  /** Beats a minute that can be held for an hour. */
  readonly thresholdHr: number
  /** Watts that can be held for an hour. */
  readonly ftp: number
}

/** Until somebody says otherwise. */
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

/** Nobody starts the same sport twice in a minute: the same activity from a watch, an export and a provider is one. */
export const fingerprintOf = ({ sport, startedAt }: Pick<Activity, 'sport' | 'startedAt'>): string =>
  `${sport} ${Math.floor(startedAt / 60)}`

export const dayOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10)
export const dayMs = 86_400_000

/** What files, providers and people call a sport. */
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
