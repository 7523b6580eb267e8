/** Cuts outlines to the window of a map: the coast of Eurasia has ten thousand points, and a map shows a few hundred. */

import type { MapPoint } from './labels.ts'

type Axis = 0 | 1

/** Cuts a closed line at the four sides (Sutherland and Hodgman). What lies outside follows the sides. */
export function clipRing(ring: readonly MapPoint[], width: number, height: number): readonly MapPoint[] {
  const pad = 4
  const sides = [
    [0, -pad, 1],
    [0, width + pad, -1],
    [1, -pad, 1],
    [1, height + pad, -1],
  ] as const
  return sides.reduce<readonly MapPoint[]>((points, [axis, limit, sign]) => cut(points, axis, limit, sign), ring)
}

function cut(points: readonly MapPoint[], axis: Axis, limit: number, sign: 1 | -1): readonly MapPoint[] {
  const isInside = (point: MapPoint): boolean => (point[axis] - limit) * sign >= 0
  const kept: MapPoint[] = []
  let before = points.at(-1)
  for (const point of points) {
    if (before && isInside(before) !== isInside(point)) kept.push(crossing(before, point, axis, limit))
    if (isInside(point)) kept.push(point)
    before = point
  }
  return kept
}

function crossing(a: MapPoint, b: MapPoint, axis: Axis, limit: number): MapPoint {
  const share = (limit - a[axis]) / (b[axis] - a[axis])
  return [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share]
}

/** Writes a path with whole pixels' worth of detail: points nearer than that to the last one are left out. */
export function toPath(points: readonly MapPoint[], isClosed: boolean): string {
  const kept: MapPoint[] = []
  for (const point of points) {
    const last = kept.at(-1)
    if (!last || Math.abs(last[0] - point[0]) + Math.abs(last[1] - point[1]) >= 0.8) kept.push(point)
  }
  if (kept.length < 2) return ''
  return `M${kept.map(([x, y]) => `${round(x)} ${round(y)}`).join('L')}${isClosed ? 'Z' : ''}`
}

const round = (value: number): number => Math.round(value * 10) / 10
