/** Reads GPX tracks and sums up distance and climb. https://www.topografix.com/GPX/1/1/ */

import { toSport } from '../activity.ts'
import type { ParsedActivity } from './read.ts'
import { UnreadableFile } from './read.ts'
import { average, childOf, findDeep, highest, listOf, numberOf, readXml, textOf, timeOf } from './xml.ts'

interface Point {
  readonly lat: number
  readonly lon: number
  readonly at: number
  readonly elevation: number | undefined
  readonly hr: number | undefined
  readonly power: number | undefined
}

export function readGpx(name: string, text: string): ParsedActivity {
  const gpx = childOf(readXml(name, text), 'gpx')
  const tracks = listOf(childOf(gpx, 'trk'))
  const points = tracks.flatMap((track) =>
    listOf(childOf(track, 'trkseg')).flatMap((segment) => listOf(childOf(segment, 'trkpt')).map(toPoint)),
  )
  const timed = points.filter(({ at }) => Number.isFinite(at))
  const [first] = timed
  const last = timed.at(-1)
  if (!first || !last) throw new UnreadableFile(`${name}: the GPX file contains a track, but no times`)
  const [track] = tracks
  return {
    sport: toSport(textOf(childOf(track, 'type'))),
    name: textOf(childOf(track, 'name')),
    startedAt: Math.floor(first.at / 1000),
    durationS: Math.max(0, (last.at - first.at) / 1000),
    distanceM: Math.round(points.slice(1).reduce((sum, point, at) => sum + metres(points[at] ?? point, point), 0)),
    elevationM: climb(points.flatMap(({ elevation }) => elevation ?? [])),
    averageHr: average(points.flatMap(({ hr }) => hr ?? [])),
    maxHr: highest(points.flatMap(({ hr }) => hr ?? [])),
    averagePower: average(points.flatMap(({ power }) => power ?? [])),
    calories: undefined,
  }
}

const toPoint = (node: unknown): Point => ({
  lat: numberOf(childOf(node, '@lat')) ?? Number.NaN,
  lon: numberOf(childOf(node, '@lon')) ?? Number.NaN,
  at: timeOf(textOf(childOf(node, 'time'))),
  elevation: numberOf(childOf(node, 'ele')),
  hr: numberOf(findDeep(childOf(node, 'extensions'), 'hr')),
  power: numberOf(findDeep(childOf(node, 'extensions'), 'power')),
})

function metres(a: Point, b: Point): number {
  const radians = Math.PI / 180
  const h =
    Math.sin(((b.lat - a.lat) * radians) / 2) ** 2 +
    Math.cos(a.lat * radians) * Math.cos(b.lat * radians) * Math.sin(((b.lon - a.lon) * radians) / 2) ** 2
  const length = 2 * 6_371_008.8 * Math.asin(Math.min(1, Math.sqrt(h)))
  return Number.isFinite(length) ? length : 0
}

/** Only a rise above the noise of a barometer counts as climb. */
const noiseM = 3
function climb(heights: readonly number[]): number {
  let [total, low] = [0, heights[0] ?? 0]
  for (const height of heights) {
    if (height < low) low = height
    else if (height - low >= noiseM) {
      total += height - low
      low = height
    }
  }
  return Math.round(total)
}
