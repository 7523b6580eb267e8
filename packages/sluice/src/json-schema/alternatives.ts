/**
 * What to tell of a value that matches none of some alternatives.
 *
 * The issues of all of them together would contradict each other: nobody can mend a shape that is to be a circle and a
 * square. So the one that came closest is told, or all that came equally close in one sentence.
 */

import type { Issue, Test, Visit } from './visit.ts'
import { aside, pathOf, tell } from './visit.ts'

const maxSaid = 4

export function failAlternatives(tests: readonly Test[], value: unknown, at: Visit): false {
  if (!at.issues) return false
  const here = pathOf(at.path)
  const told = tests.map((test) => {
    const issues: Issue[] = []
    test(value, aside(at, issues))
    return issues
  })
  // One that is content with the value itself, though not with its parts, is what the caller meant.
  const deeper = told.filter((issues) => issues.every(({ path }) => path.length > here.length))
  const fewest = Math.min(...deeper.map((issues) => issues.length))
  const closest = deeper.filter((issues) => issues.length === fewest)
  if (closest[0] && (closest.length === 1 || fewest > 1)) return tell(at, closest[0])
  const outright = told.flatMap((issues) => issues.filter(({ path }) => path.length === here.length).slice(0, 1))
  const wanted = closest.length > 0 ? closest.flat() : outright
  const isOnePlace = new Set(wanted.map(({ path }) => String(path))).size === 1
  const path = (isOnePlace ? wanted[0]?.path : undefined) ?? here
  const says = [...new Set(wanted.map((issue) => [...issue.path.slice(path.length), issue.message].join(' ')))]
  const message = says.length > maxSaid ? `matches none of ${tests.length} alternatives` : says.join(' or ')
  return tell(at, [{ message, path }])
}
