/** A made-up year of training, always the same for a tenant, to try the tools before there is data. */

import { createHash } from 'node:crypto'
import type { Activity, Sport } from './activity.ts'
import { dayOf } from './activity.ts'
import type { Night } from './night.ts'
import { toNight } from './night.ts'

export const activitiesPerYear = 400

export function syntheticYear(tenant: string, nowMs: number, count: number = activitiesPerYear): readonly Activity[] {
  const random = randomOf(tenant)
  const today = Math.floor(nowMs / 86_400_000)
  return Array.from({ length: count }, (_, at): Activity => {
    // Starts yesterday, so that no activity lies in the future at any hour.
    const day = today - 1 - Math.floor((at * 365) / count)
    const sport: Sport = pick(random(), [0.55, 'run'], [0.85, 'ride'], [0.93, 'swim'], [1, 'strength'])
    // Two activities on one day are a morning and an evening one.
    const hour = at % 2 === 0 ? 6 + Math.floor(random() * 3) : 16 + Math.floor(random() * 4)
    const startedAt = day * 86_400 + hour * 3600 + Math.floor(random() * 60) * 60
    const season = 1 + 0.25 * Math.sin((day / 365) * 2 * Math.PI)
    const hard = random()
    const minutes = (sport === 'ride' ? 70 : sport === 'run' ? 48 : 40) * season * (0.6 + random())
    const speed = { run: 2.9, ride: 7.6, swim: 0.95 }[sport as string] ?? 0
    const averageHr = Math.round(122 + 36 * hard)
    const durationS = Math.round(minutes * 60)
    return {
      id: `synthetic-${createHash('sha256').update(`${tenant} ${startedAt} ${sport}`).digest('hex').slice(0, 8)}`,
      provider: 'synthetic',
      sport,
      name: `${hour < 12 ? 'Morning' : 'Evening'} ${sport}`,
      startedAt,
      durationS,
      distanceM: Math.round(durationS * speed * (0.9 + 0.25 * hard)),
      elevationM: sport === 'run' || sport === 'ride' ? Math.round(random() * (sport === 'ride' ? 700 : 180)) : 0,
      averageHr,
      maxHr: Math.min(192, averageHr + 12 + Math.round(random() * 20)),
      averagePower: sport === 'ride' ? Math.round(140 + 80 * hard) : undefined,
      calories: Math.round(minutes * (7 + 5 * hard)),
    }
  })
}

const syntheticNightCount = 60

/** Nights to go with the year, so that sleep and recovery can be tried too. */
export function syntheticNights(tenant: string, nowMs: number): readonly Night[] {
  const random = randomOf(`${tenant} nights`)
  // Every night ends before seven, so before that hour the last one is the night to yesterday.
  const last = Math.floor((nowMs - 7 * 3_600_000) / 86_400_000)
  return Array.from({ length: syntheticNightCount }, (_, at) => {
    const day = last - at
    const inBedS = Math.round((7 + random() * 1.8) * 3600)
    const asleepS = Math.round(inBedS * (0.84 + random() * 0.12))
    const [deepS, remS] = [
      Math.round(asleepS * (0.14 + random() * 0.08)),
      Math.round(asleepS * (0.17 + random() * 0.09)),
    ]
    const endedAt = day * 86_400 + Math.round((5.8 + random()) * 3600)
    return toNight({
      ...{ day: dayOf(day * 86_400), provider: 'synthetic', startedAt: endedAt - inBedS, endedAt },
      ...{ asleepS, awakeS: inBedS - asleepS, deepS, remS, lightS: asleepS - deepS - remS },
      ...{ restingHr: Math.round(52 + random() * 6), hrvMs: Math.round(55 + random() * 20) },
    })
  })
}

function pick<T>(at: number, ...shares: readonly (readonly [upTo: number, value: T])[]): T {
  const found = shares.find(([upTo]) => at < upTo) ?? shares.at(-1)
  if (!found) throw new RangeError('nothing to pick from')
  return found[1]
}

/** mulberry32, seeded by the tenant's name. */
function randomOf(seed: string): () => number {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
