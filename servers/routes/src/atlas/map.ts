/** Draws a route as an SVG map: coast, borders, towns, the line with its ends and stops, alternatives and a scale. */

import { formatDistance, formatDuration, words } from '../messages.ts'
import type { Language, Place, Point, Route } from '../route.ts'
import { distanceM } from '../route.ts'
import type { City } from './cities.ts'
import { clipRing, toPath } from './clip.ts'
import type { MapPoint } from './labels.ts'
import { placeLabels } from './labels.ts'
import type { Outline, Topology } from './topology.ts'

/** The part of a planned trip that a map shows. */
export interface MapTrip {
  readonly places: readonly Place[]
  readonly routes: readonly Pick<Route, 'line' | 'distanceM' | 'durationS'>[]
  readonly language: Language
  readonly approximate: boolean
}

/** The geography that a map draws under the route. */
export interface MapGround {
  topology(detail: '10m' | '50m'): Topology
  readonly lakes: readonly Outline[]
  /** The largest first. */
  readonly cities: readonly City[]
  readonly fontFamily: string
}

const width = 720
const [minHeight, maxHeight] = [440, 720]
const margin = 64
const maxTowns = 40
/** Maps of fewer degrees show the detailed coast. */
const detailedDegrees = 8

export function drawMap({ routes, places, language, approximate }: MapTrip, ground: MapGround): string {
  const all = [...routes.flatMap(({ line }) => line), ...places]
  const { project, height, window } = projection(all)
  const lines = routes.map(({ line }) => line.map(project))
  const [best = '', ...others] = lines.map((line) => line.map((spot) => spot.join(',')).join(' '))
  const named = places.map((place) => ({ at: project(place), text: shorten(place.name) }))
  const towns = townsIn(ground.cities, window, places).map((city) => ({ at: project(city), text: city.name }))
  const { labels, optional } = placeLabels(named, lines, { width, height }, towns)
  const dots = towns.map(({ at: [x, y], text }, index) => {
    const label = optional[index]
    return label
      ? `<circle class="town" cx="${x}" cy="${y}" r="2.5"/><text class="town-name" x="${round(label.x)}" y="${round(label.y)}" text-anchor="${label.anchor}">${escape(text)}</text>`
      : ''
  })
  const ends = named.map(({ at: [x, y], text }, index) => {
    const kind = index === 0 ? 'start' : index === places.length - 1 ? 'end' : 'stop'
    const { x: textX = x, y: textY = y, anchor = 'start' } = labels[index] ?? {}
    return [
      `<circle class="${kind}" cx="${x}" cy="${y}" r="7"/>`,
      `<text x="${round(textX)}" y="${round(textY)}" text-anchor="${anchor}">${escape(text)}</text>`,
    ].join('')
  })
  const title = places.map(({ name }) => name).join(' → ')
  const { coast, borders, water } = groundPaths(ground, window, project, height)
  const length = routes[0] ? lengthOf(routes[0], language, approximate) : ''
  const boxWidth = [...length].length * 8 + 24
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(`${title}: ${length}`)}">
<style>
  .sea{fill:#d7e6f0}.land{fill:#f7f4ec;stroke:#9fb3c1;stroke-width:0.8;stroke-linejoin:round;fill-rule:evenodd}
  .lake{fill:#d7e6f0}.border{fill:none;stroke:#c2b59b;stroke-width:1;stroke-dasharray:4 3}
  polyline{fill:none;stroke-linejoin:round;stroke-linecap:round}
  .case{stroke:#fff;stroke-width:8}.best{stroke:#2563eb;stroke-width:4.5}.other{stroke:#64748b;stroke-width:3.5;stroke-dasharray:1 7}
  circle{stroke:#fff;stroke-width:3}.start{fill:#15803d}.stop{fill:#64748b}.end{fill:#b91c1c}
  .town{fill:#64748b;stroke:#f7f4ec;stroke-width:1}
  text{font-family:'${ground.fontFamily}',system-ui,sans-serif;font-weight:600;font-size:15px;fill:#1e293b;paint-order:stroke;stroke:#f7f4ec;stroke-width:4px;stroke-linejoin:round}
  .town-name{font-weight:400;font-size:11px;fill:#475569;stroke-width:3px}
  .note{font-weight:400;font-size:11px;fill:#475569;stroke-width:3px}.scale{stroke:#475569;stroke-width:2;fill:none}
  .box{fill:#fff;stroke:#cbd5e1}.length{font-size:14px;stroke:none}
</style>
<rect class="sea" width="${width}" height="${height}"/>
<path class="land" d="${coast}"/>
${water === '' ? '' : `<path class="lake" d="${water}"/>\n`}<path class="border" d="${borders}"/>
${others.map((points) => `<polyline class="other" points="${points}"/>`).join('\n')}
<polyline class="case" points="${best}"/>
<polyline class="best" points="${best}"/>
${dots.filter((dot) => dot !== '').join('\n')}
${ends.join('\n')}
<rect class="box" x="${width - boxWidth - 12}" y="${height - 42}" width="${boxWidth}" height="30" rx="6"/>
<text class="length" x="${width - 12 - boxWidth / 2}" y="${height - 22}" text-anchor="middle">${escape(length)}</text>
${scaleBar(all, project, height)}
</svg>`
}

/** "about 1,722 km · 27 h" */
const lengthOf = (route: MapTrip['routes'][number], language: Language, approximate: boolean): string =>
  `${approximate ? words[language].about : ''}${formatDistance(route.distanceM, language)} · ${formatDuration(route.durationS, language, approximate)}`

type Projection = (point: Point) => MapPoint
type Window = Pick<Outline, 'west' | 'south' | 'east' | 'north'>

function groundPaths(
  { topology, lakes }: MapGround,
  window: Window,
  project: Projection,
  height: number,
): { readonly coast: string; readonly borders: string; readonly water: string } {
  const { coasts, borders } = topology(window.east - window.west < detailedDegrees ? '10m' : '50m')
  const isVisible = (outline: Outline): boolean =>
    outline.west <= window.east &&
    outline.east >= window.west &&
    outline.south <= window.north &&
    outline.north >= window.south
  const onMap = ({ line }: Outline): readonly MapPoint[] => line.map(([lon, lat]) => project({ lat, lon }))
  const areas = (outlines: readonly Outline[]): string =>
    outlines
      .filter(isVisible)
      .map((outline) => toPath(clipRing(onMap(outline), width, height), true))
      .join('')
  const visible = borders.filter(isVisible).map((border) => toPath(near(onMap(border), height), false))
  return { coast: areas(coasts), borders: visible.join(''), water: areas(lakes) }
}

/** A border far outside of the map needs no points there. */
const near = (points: readonly MapPoint[], height: number): readonly MapPoint[] =>
  points.filter(([x, y]) => x > -width && x < 2 * width && y > -height && y < 2 * height)

/** Returns the largest towns in the window, without the places of the route. */
function townsIn(
  cities: readonly City[],
  { west, south, east, north }: Window,
  places: readonly Place[],
): readonly City[] {
  const found: City[] = []
  for (const city of cities) {
    if (city.lon < west || city.lon > east || city.lat < south || city.lat > north) continue
    if (places.some((place) => distanceM(place, city) < 5000)) continue
    found.push(city)
    if (found.length === maxTowns) break
  }
  return found
}

/** Shortens a name to its first part, because a whole address would cover the map. */
const shorten = (name: string): string => {
  const [first = name] = name.split(', ')
  const letters = [...first]
  return letters.length <= 32 ? first : `${letters.slice(0, 31).join('')}…`
}

/** An equirectangular projection around the centre: accurate enough for a country, and simple to compute. */
function projection(points: readonly Point[]): {
  readonly project: Projection
  readonly height: number
  readonly window: Window
} {
  const lats = points.map(({ lat }) => lat)
  const lons = points.map(({ lon }) => lon)
  const [south, north] = [minOf(lats), maxOf(lats)]
  const [west, east] = [minOf(lons), maxOf(lons)]
  const squeeze = Math.max(0.1, Math.cos((((south + north) / 2) * Math.PI) / 180))
  const [wide, tall] = [Math.max((east - west) * squeeze, 0.02), Math.max(north - south, 0.02)]
  const height = Math.round(Math.min(maxHeight, Math.max(minHeight, (tall / wide) * (width - 2 * margin) + 2 * margin)))
  const scale = Math.min((width - 2 * margin) / wide, (height - 2 * margin) / tall)
  const left = (width - (east - west) * squeeze * scale) / 2
  const top = (height - (north - south) * scale) / 2
  return {
    project: ({ lat, lon }) => [round(left + (lon - west) * squeeze * scale), round(top + (north - lat) * scale)],
    height,
    window: {
      west: west - left / squeeze / scale,
      east: west + (width - left) / squeeze / scale,
      north: north + top / scale,
      south: north - (height - top) / scale,
    },
  }
}

/** Draws a round number of kilometres that takes up about a fifth of the width. */
function scaleBar(points: readonly Point[], project: Projection, height: number): string {
  const [a] = points
  if (!a) return ''
  const b = { lat: a.lat, lon: a.lon + 0.1 }
  const metresPerPixel = distanceM(a, b) / Math.max(Math.abs(project(b)[0] - project(a)[0]), 1e-6)
  const targetMetres = metresPerPixel * (width / 6)
  const power = 10 ** Math.floor(Math.log10(targetMetres))
  const metres = [5, 2, 1].map((step) => step * power).find((step) => step <= targetMetres) ?? power
  const pixels = round(metres / metresPerPixel)
  const y = height - 18
  return `<path class="scale" d="M16 ${y - 6}v6h${pixels}v-6"/><text class="note" x="${22 + pixels}" y="${y}">${metres >= 1000 ? `${metres / 1000} km` : `${metres} m`} · Natural Earth, GeoNames</text>`
}

/** `Math.min(...)` would fail: a long route has more points than a call may have arguments. */
const minOf = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
const maxOf = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
const round = (value: number): number => Math.round(value * 10) / 10
const escape = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`).replace(/\p{Cc}/gu, ' ')
