/** A made-up year of sport, always the same, as a fitness server returns it. */

/** Spreads values without randomness, so that two runs count the same tokens. */
const spread = (i: number, from: number, to: number): number => from + ((i * 7919) % 1009) * ((to - from) / 1009)
const round = (value: number, digits = 0): number => Number(value.toFixed(digits))

const types = ['ride', 'run', 'swim', 'hike', 'walk']
const places = ['Prague', 'Brno', 'Ostrava', 'Plzeň', 'Olomouc', 'Liberec']
const minute = 60_000

/** One row of plain values per activity. */
export const flat = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    id: 9_000_000_000 + i * 13_577,
    type: types[i % types.length] ?? '',
    name: `${places[i % places.length]} ${i % 3 === 0 ? 'morning' : 'evening'} ${types[i % types.length]}`,
    started: new Date(
      Date.UTC(2026, 0, 1) + Math.floor((i * 365) / count) * 1440 * minute + (i % 900) * minute,
    ).toISOString(),
    distanceM: round(spread(i, 900, 90_000), 1),
    movingS: round(spread(i + 3, 900, 14_000)),
    elevationM: round(spread(i + 5, 0, 1_800)),
    heartRateAvg: round(spread(i + 7, 105, 165)),
    heartRateMax: round(spread(i + 11, 150, 192)),
    startLat: round(spread(i + 13, 48.6, 51), 5),
    startLon: round(spread(i + 17, 12.1, 18.8), 5),
    city: places[i % places.length] ?? '',
  }))

/** The same values as an API returns them: grouped, and every activity has every group. */
export const nested = (count: number) =>
  flat(count).map(
    ({ id, type, name, started, distanceM, movingS, elevationM, heartRateAvg, heartRateMax, ...start }) => ({
      id,
      type,
      name,
      started,
      totals: { distanceM, movingS, elevationM },
      heartRate: { avg: heartRateAvg, max: heartRateMax },
      start: { city: start.city, at: { lat: start.startLat, lon: start.startLon } },
    }),
  )

/** The same values with the irregularities of real data: missing groups, and a list in each activity. */
export const ragged = (count: number) =>
  nested(count).map(({ heartRate, ...activity }, i) => ({
    ...activity,
    ...(i % 3 > 0 && { heartRate }),
    laps: Array.from({ length: 1 + (i % 3) }, (_, lap) => ({ km: lap + 1, s: round(spread(i + lap, 180, 420)) })),
  }))

/** Groups as columns named by their path. */
export const dotted = (count: number) =>
  nested(count).map(({ totals, heartRate, start: { city, at }, ...plain }) => ({
    ...plain,
    ...under('totals', totals),
    ...under('heartRate', heartRate),
    'start.city': city,
    ...under('start.at', at),
  }))

const under = (path: string, group: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(group).map(([name, value]) => [`${path}.${name}`, value]))
