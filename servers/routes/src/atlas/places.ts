/**
 * Places of Vietnam by name, without the network. Accents and case do not matter: "Da Nang", "đà nẵng" and "DANANG" are
 * one place.
 */

import type { Place } from '../route.ts'
import type { City } from './cities.ts'
import { otherNames, roads } from './roads.ts'

export interface Places {
  /** Returns the best match first: the exact name, then names with that prefix, larger places first. */
  find(text: string): readonly Place[]
  /** Returns whether a place has exactly this name. */
  isExact(text: string): boolean
  /** Returns the name that people know, for a name of GeoNames such as "Cho Dok". */
  displayName(name: string): string
  /** Returns similar names, for a mistyped one. */
  suggest(text: string): readonly string[]
}

/** Normalizes a name: no accents, no case, no spaces, no "thành phố". */
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

/** Expects `cities` with the largest first. */
export function createPlaces(cities: readonly City[]): Places {
  /** The names in the road data are the ones shown. */
  const shown = new Map([
    ...roads.flatMap(({ through }) => through.map((name) => [fold(name), name] as const)),
    ...Object.entries(otherNames).flatMap(([name, others]) => others.map((other) => [fold(other), name] as const)),
  ])
  const displayName = (name: string): string => shown.get(fold(name)) ?? name.replaceAll('Ð', 'Đ')
  const known = new Map<string, Place>()
  for (const { name, lat, lon } of cities) {
    const key = fold(name)
    const place = { name: displayName(name), lat, lon }
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
    displayName,
    isExact: (text) => known.has(fold(text)),
    find(text) {
      const key = fold(text)
      if (key === '') return []
      const exact = known.get(key)
      const begins =
        key.length < 3 ? [] : keys.filter((other) => other.startsWith(key)).map((other) => known.get(other))
      return [...new Set([exact, ...begins])].filter((place) => place !== undefined).slice(0, 10)
    },
    suggest(text) {
      const key = fold(text).slice(0, 40)
      if (key.length < 3) return []
      const tolerance = Math.max(1, Math.floor(key.length / 4))
      const close = keys
        .filter((other) => Math.abs(other.length - key.length) <= tolerance)
        .map((other) => ({ other, distance: editDistance(key, other) }))
        .filter(({ distance }) => distance <= tolerance)
        .sort((a, b) => a.distance - b.distance)
      return [...new Set(close.map(({ other }) => known.get(other)?.name ?? other))].slice(0, 3)
    },
  }
}

export function editDistance(a: string, b: string): number {
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
