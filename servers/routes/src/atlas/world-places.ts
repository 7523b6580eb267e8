/**
 * Towns of the world by name, with an optional country or American state behind a comma: "Paris", "Paris, TX", "Valencia,
 * Venezuela". The largest town of a name comes first.
 */

import type { City } from './cities.ts'
import { editDistance } from './places.ts'

export interface WorldPlaces {
  /** Returns the towns with exactly this name. */
  find(text: string): readonly City[]
  /** Returns the towns whose names begin with the text. */
  findPrefix(text: string): readonly City[]
  suggest(text: string): readonly City[]
}

/** English names of places that GeoNames lists under their own. */
const exonyms: { readonly [name: string]: string } = {
  ...{ cologne: 'koln', nuremberg: 'nurnberg', seville: 'sevilla', gothenburg: 'goteborg', antwerp: 'antwerpen' },
  ...{ ghent: 'gent', bruges: 'brugge', newyork: 'newyorkcity', nyc: 'newyorkcity' },
  ...{ kiev: 'kyiv', bombay: 'mumbai', calcutta: 'kolkata', peking: 'beijing', washingtondc: 'washington' },
  ...{ mexico: 'mexicocity', munchen: 'munich', wien: 'vienna', praha: 'prague', roma: 'rome', lisboa: 'lisbon' },
}

/** Other words for countries than those of the Unicode tables. */
const countryWords: { readonly [word: string]: string } = {
  uk: 'GB',
  england: 'GB',
  scotland: 'GB',
  usa: 'US',
  america: 'US',
  korea: 'KR',
}

const maxFound = 10
/** A misspelt name is compared with towns of this size, not with every village. */
const knownTown = 10_000

/** Expects the largest cities first. */
export function createWorldPlaces(cities: readonly City[]): WorldPlaces {
  const byName = new Map<string, City[]>()
  for (const city of cities) {
    const key = foldWorld(city.name)
    const known = byName.get(key)
    if (known) known.push(city)
    else byName.set(key, [city])
  }
  const countries = countryCodes(new Set(cities.map(({ country }) => country)))
  const split = (text: string): { readonly key: string; readonly matches: (city: City) => boolean } => {
    const comma = text.lastIndexOf(',')
    const name = foldWorld(comma === -1 ? text : text.slice(0, comma))
    const key = exonyms[name] ?? name
    if (comma === -1) return { key, matches: () => true }
    const behind = foldWorld(text.slice(comma + 1))
    const code = countries.get(behind)
    const matches = (city: City): boolean =>
      city.country === code || (city.country === 'US' && city.region.toLowerCase() === behind)
    return { key, matches }
  }
  return {
    find(text) {
      const { key, matches } = split(text)
      return (byName.get(key) ?? []).filter(matches).slice(0, maxFound)
    },
    findPrefix(text) {
      const { key, matches } = split(text)
      if (key.length < 3) return []
      const found: City[] = []
      for (const [name, some] of byName) if (name.startsWith(key)) found.push(...some.filter(matches))
      return found.sort((a, b) => b.population - a.population).slice(0, maxFound)
    },
    suggest(text) {
      const { key, matches } = split(text)
      if (key.length < 4 || key.length > 40) return []
      const tolerance = Math.max(1, Math.floor(key.length / 5))
      const similar: City[] = []
      for (const [name, some] of byName) {
        if (name[0] !== key[0] || Math.abs(name.length - key.length) > tolerance) continue
        const city = some.find(matches)
        if (city && city.population >= knownTown && editDistance(key, name) <= tolerance) similar.push(city)
        if (similar.length === 3) break
      }
      return similar
    },
  }
}

/** Like `fold`, which also drops the words that Vietnam puts before a town. */
const foldWorld = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/ø/g, 'o')
    .replace(/ß/g, 'ss')
    .replace(/ł/g, 'l')
    .replace(/[đð]/g, 'd')
    .replace(/[^\p{L}\p{N}]/gu, '')

function countryCodes(codes: ReadonlySet<string>): ReadonlyMap<string, string> {
  const names = ['en', 'vi'].map((language) => new Intl.DisplayNames(language, { type: 'region' }))
  const found = new Map<string, string>(Object.entries(countryWords))
  for (const code of codes) {
    found.set(code.toLowerCase(), code)
    for (const name of names) found.set(foldWorld(name.of(code) ?? code), code)
  }
  return found
}

/** Adds the country, because a name alone does not say which Springfield it is. */
export function nameOf({ name, country, region }: City, language: string): string {
  const state = country === 'US' && region !== '' ? `, ${region}` : ''
  return `${name}${state}, ${countryNames(language).of(country) ?? country}`
}

const displayNames = new Map<string, Intl.DisplayNames>()
function countryNames(language: string): Intl.DisplayNames {
  const known = displayNames.get(language) ?? new Intl.DisplayNames(language, { type: 'region' })
  displayNames.set(language, known)
  return known
}
