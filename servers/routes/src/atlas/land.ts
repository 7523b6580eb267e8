/**
 * Says whether a point is on land, and how much water a straight line crosses. The world is a bitmap with cells of a
 * twentieth of a degree (five kilometres), because a polygon of Eurasia takes too long for millions of questions.
 */

import type { Point } from '../route.ts'
import { distanceM } from '../route.ts'
import type { Outline } from './topology.ts'

export interface Land {
  isLand(point: Point): boolean
  /** Returns the length of the longest stretch of water between two points, in metres. */
  widestWaterM(from: Point, to: Point): number
}

const perDegree = 20
const [columns, rows] = [360 * perDegree, 180 * perDegree]
const sampleM = 2500

export function createLand(coasts: readonly Outline[], lakes: readonly Outline[]): Land {
  const isDry = new Uint8Array(columns * rows)
  fill(isDry, coasts, 1)
  fill(isDry, lakes, 0)
  const isLand = ({ lat, lon }: Point): boolean => {
    const row = Math.min(rows - 1, Math.max(0, Math.floor((90 - lat) * perDegree)))
    const column = (Math.floor((lon + 180) * perDegree) + columns) % columns
    return isDry[row * columns + column] === 1
  }
  return {
    isLand,
    widestWaterM(from, to) {
      const length = distanceM(from, to)
      const steps = Math.max(1, Math.ceil(length / sampleM))
      let [wet, widest] = [0, 0]
      for (let step = 1; step < steps; step++) {
        const share = step / steps
        const at = { lat: from.lat + (to.lat - from.lat) * share, lon: from.lon + (to.lon - from.lon) * share }
        wet = isLand(at) ? 0 : wet + 1
        widest = Math.max(widest, wet)
      }
      return (widest * length) / steps
    },
  }
}

/** Fills outlines row by row: a point between an odd and an even crossing is inside. */
function fill(cells: Uint8Array, outlines: readonly Outline[], value: 0 | 1): void {
  const crossings: number[][] = Array.from({ length: rows }, () => [])
  for (const { line } of outlines)
    for (let at = 1; at < line.length; at++) {
      const [fromLon, fromLat] = line[at - 1] ?? [0, 0]
      const [toLon, toLat] = line[at] ?? [0, 0]
      const [top, bottom] = fromLat > toLat ? [fromLat, toLat] : [toLat, fromLat]
      // The middle of a row decides, so that a point where two lines meet counts once.
      const first = Math.max(0, Math.ceil((90 - top) * perDegree - 0.5))
      const last = Math.min(rows - 1, Math.ceil((90 - bottom) * perDegree - 0.5) - 1)
      for (let row = first; row <= last; row++) {
        const lat = 90 - (row + 0.5) / perDegree
        crossings[row]?.push(fromLon + ((toLon - fromLon) * (lat - fromLat)) / (toLat - fromLat))
      }
    }
  for (const [row, found] of crossings.entries()) {
    found.sort((a, b) => a - b)
    for (let at = 0; at + 1 < found.length; at += 2) {
      const from = Math.max(0, Math.ceil(((found[at] ?? 0) + 180) * perDegree - 0.5))
      const to = Math.min(columns, Math.ceil(((found[at + 1] ?? 0) + 180) * perDegree - 0.5))
      if (to > from) cells.fill(value, row * columns + from, row * columns + to)
    }
  }
}
