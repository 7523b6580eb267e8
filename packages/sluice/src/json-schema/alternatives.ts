/**
 * What to tell of a value that matches none of some alternatives.
 *
 * Their issues together would contradict each other: nobody can mend a shape that is to be a circle and a square. So
 * the one that came closest is told, or all that came equally close in one sentence.
 */

import type { Issue, Test, Visit } from './visit.ts'
import { aside, fail } from './visit.ts'

const maxSaid = 4

export function failAlternatives(tests: readonly Test[], value: unknown, at: Visit): false {
  if (!at.issues) return false
  const here = at.path.length
  const told = tests.map((test) => {
    const issues: Issue[] = []
    test(value, aside(at, issues))
    return issues
  })
  // One that is content with the value itself, though not with its parts, is what the caller meant.
  const deeper = told.filter((issues) => issues.every(({ path }) => path.length > here))
  const fewest = Math.min(...deeper.map((issues) => issues.length))
  const closest = deeper.filter((issues) => issues.length === fewest)
  if (closest[0] && (closest.length === 1 || fewest > 1)) {
    at.issues.push(...closest[0])
    return false
  }
  const outright = told.flatMap((issues) => issues.filter(({ path }) => path.length === here).slice(0, 1))
  const wanted = closest.length > 0 ? closest.flat() : outright
  const places = new Set(wanted.map(({ path }) => String(path.slice(here))))
  const shared = places.size === 1 ? (wanted[0]?.path.slice(here) ?? []) : []
  const says = new Set(wanted.map(({ path, message }) => [...path.slice(here + shared.length), message].join(' ')))
  return fail(
    at,
    says.size > maxSaid ? `matches none of ${tests.length} alternatives` : [...says].join(' or '),
    ...shared,
  )
}
