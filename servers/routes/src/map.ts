/** Draws a route as an SVG map: the line, its ends and stops, the alternatives and a scale. It fetches nothing. */

import type { PlannedTrip } from './answer.ts'
import { type MapPoint, placeLabels } from './labels.ts'
import { formatDistance } from './messages.ts'
import type { Point } from './route.ts'
import { distanceM } from './route.ts'

const width = 640
const height = 640
const margin = 56

export function drawMap({ routes, places, language, provider }: PlannedTrip): string {
  const all = [...routes.flatMap(({ line }) => line), ...places]
  const project = projection(all)
  const lines = routes.map(({ line }) => line.map(project))
  const [best = '', ...others] = lines.map((line) => line.map((spot) => spot.join(',')).join(' '))
  const named = places.map((place) => ({ at: project(place), text: shorten(place.name) }))
  const labels = placeLabels(named, lines, { width, height })
  const ends = named.map(({ at: [x, y], text }, index) => {
    const kind = index === 0 ? 'start' : index === places.length - 1 ? 'end' : 'stop'
    const { x: textX = x, y: textY = y, anchor = 'start' } = labels[index] ?? {}
    return [
      `<circle class="${kind}" cx="${x}" cy="${y}" r="7"/>`,
      `<text x="${round(textX)}" y="${round(textY)}" text-anchor="${anchor}">${escape(text)}</text>`,
    ].join('')
  })
  const title = places.map(({ name }) => name).join(' → ')
  const length = routes[0] ? formatDistance(routes[0].distanceM, language) : ''
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(title)}">
<style>
  .ground{fill:#f4f1ea}.grid{stroke:#e2ddd0;stroke-width:1}
  polyline{fill:none;stroke-linejoin:round;stroke-linecap:round}
  .case{stroke:#fff;stroke-width:9}.best{stroke:#2563eb;stroke-width:5}.other{stroke:#94a3b8;stroke-width:4;stroke-dasharray:1 8}
  circle{stroke:#fff;stroke-width:3}.start{fill:#15803d}.stop{fill:#64748b}.end{fill:#b91c1c}
  text{font:600 15px system-ui,sans-serif;fill:#1e293b;paint-order:stroke;stroke:#f4f1ea;stroke-width:4px}
  .note{font-weight:400;font-size:12px;fill:#475569}.scale{stroke:#475569;stroke-width:2;fill:none}
</style>
<rect class="ground" width="${width}" height="${height}"/>
${grid()}
${others.map((points) => `<polyline class="other" points="${points}"/>`).join('\n')}
<polyline class="case" points="${best}"/>
<polyline class="best" points="${best}"/>
${ends.join('\n')}
<text class="note" x="${width - 16}" y="${height - 16}" text-anchor="end">${escape(length)}${provider.approximate ? ' ≈' : ''}</text>
${scaleBar(all, project)}
</svg>`
}

type Projection = (point: Point) => MapPoint

/** Shortens a name, because a whole address would cover the map. */
const shorten = (name: string): string => {
  const letters = [...name]
  return letters.length <= 32 ? name : `${letters.slice(0, 31).join('')}…`
}

/** An equirectangular projection around the centre: accurate enough for a country, and simple to compute. */
function projection(points: readonly Point[]): Projection {
  const lats = points.map(({ lat }) => lat)
  const lons = points.map(({ lon }) => lon)
  const [south, north] = [minOf(lats), maxOf(lats)]
  const [west, east] = [minOf(lons), maxOf(lons)]
  const squeeze = Math.cos((((south + north) / 2) * Math.PI) / 180)
  const scale = Math.min(
    (width - 2 * margin) / Math.max((east - west) * squeeze, 1e-4),
    (height - 2 * margin) / Math.max(north - south, 1e-4),
  )
  const left = (width - (east - west) * squeeze * scale) / 2
  const top = (height - (north - south) * scale) / 2
  return ({ lat, lon }) => [round(left + (lon - west) * squeeze * scale), round(top + (north - lat) * scale)]
}

/** Draws a round number of kilometres that takes up about a fifth of the width. */
function scaleBar(points: readonly Point[], project: Projection): string {
  const [a] = points
  if (!a) return ''
  const b = { lat: a.lat, lon: a.lon + 0.1 }
  const metresPerPixel = distanceM(a, b) / Math.max(Math.abs(project(b)[0] - project(a)[0]), 1e-6)
  const targetMetres = metresPerPixel * (width / 5)
  const power = 10 ** Math.floor(Math.log10(targetMetres))
  const metres = [5, 2, 1].map((step) => step * power).find((step) => step <= targetMetres) ?? power
  const pixels = round(metres / metresPerPixel)
  const y = height - 20
  return `<path class="scale" d="M16 ${y - 6}v6h${pixels}v-6"/><text class="note" x="${22 + pixels}" y="${y}">${metres >= 1000 ? `${metres / 1000} km` : `${metres} m`}</text>`
}

const grid = (): string =>
  Array.from({ length: 7 }, (_, index) => {
    const at = (index + 1) * 80
    return `<path class="grid" d="M${at} 0V${height}M0 ${at}H${width}"/>`
  }).join('')

/** `Math.min(...)` would fail: a long route has more points than a call may have arguments. */
const minOf = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
const maxOf = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
const round = (value: number): number => Math.round(value * 10) / 10
const escape = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`).replace(/\p{Cc}/gu, ' ')
