/** Reads coasts and borders from TopoJSON (Natural Earth, from the npm package `world-atlas`). */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

export type Position = readonly [lon: number, lat: number]

/** A closed line around land or around a lake, or an open line along a border, with its bounds. */
export interface Outline {
  readonly line: readonly Position[]
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

export interface Topology {
  readonly coasts: readonly Outline[]
  readonly borders: readonly Outline[]
}

interface Geometry {
  readonly type: string
  readonly arcs?: unknown
  readonly geometries?: readonly Geometry[]
}

interface TopoJson {
  readonly transform: { readonly scale: Position; readonly translate: Position }
  readonly arcs: readonly (readonly Position[])[]
  readonly objects: { readonly countries: Geometry; readonly land: Geometry }
}

/** `50m` is Natural Earth at 1:50 million, for countries and continents; `10m` shows a city's bay, and is five times as large. */
export function loadTopology(detail: '10m' | '50m'): Topology {
  // `require` would keep the parsed file.
  const path = createRequire(import.meta.url).resolve(`world-atlas/countries-${detail}.json`)
  const { transform, arcs, objects } = JSON.parse(readFileSync(path, 'utf8')) as TopoJson
  const [scaleX, scaleY] = transform.scale
  const [left, bottom] = transform.translate
  const lines = arcs.map((arc) => {
    let [x, y] = [0, 0]
    return arc.map(([dx, dy]): Position => {
      x += dx
      y += dy
      return [x * scaleX + left, y * scaleY + bottom]
    })
  })
  /** A negative index is the same line backwards. The first point of a line repeats the last one of the line before. */
  const join = (ring: readonly number[]): readonly Position[] =>
    ring.flatMap((index, at) => {
      const line = index < 0 ? [...(lines[~index] ?? [])].reverse() : (lines[index] ?? [])
      return at === 0 ? line : line.slice(1)
    })
  const uses = new Map<number, number>()
  for (const ring of ringsOf(objects.countries))
    for (const index of ring) uses.set(index < 0 ? ~index : index, (uses.get(index < 0 ? ~index : index) ?? 0) + 1)
  return {
    coasts: ringsOf(objects.land).map((ring) => toOutline(join(ring))),
    // A line that two countries share is their border.
    borders: [...uses].filter(([, count]) => count > 1).map(([index]) => toOutline(lines[index] ?? [])),
  }
}

function ringsOf({ geometries, arcs }: Geometry): readonly (readonly number[])[] {
  if (geometries) return geometries.flatMap(ringsOf)
  const flatten = (value: unknown): readonly (readonly number[])[] =>
    Array.isArray(value) ? (typeof value[0] === 'number' ? [value as readonly number[]] : value.flatMap(flatten)) : []
  return flatten(arcs)
}

export function toOutline(line: readonly Position[]): Outline {
  let [west, south, east, north] = [180, 90, -180, -90]
  for (const [lon, lat] of line) {
    west = Math.min(west, lon)
    east = Math.max(east, lon)
    south = Math.min(south, lat)
    north = Math.max(north, lat)
  }
  return { line, west, south, east, north }
}
