/**
 * What to tell of a value that matches none of some alternatives.
 *
 * Their issues together would contradict each other: nobody can mend a shape that is to be a circle and a square. So
 * the one that came closest is told, or all that came equally close in one sentence.
 */

import type { TestOutcome } from './outcome.ts'
import { failed } from './outcome.ts'

const maxListed = 4

export function closestOf(outcomes: readonly TestOutcome[]): TestOutcome {
  // One that is content with the value itself, though not with its parts, is what the caller meant.
  const deeper = outcomes.filter(({ issues }) => issues.every(({ path }) => path.length > 0))
  const fewest = Math.min(...deeper.map(({ issues }) => issues.length))
  const closest = deeper.filter(({ issues }) => issues.length === fewest)
  if (closest[0] && (closest.length === 1 || fewest > 1)) return closest[0]
  const outright = outcomes.flatMap(({ issues }) => issues.filter(({ path }) => path.length === 0).slice(0, 1))
  const wanted = closest.length > 0 ? closest.flatMap(({ issues }) => issues) : outright
  const paths = new Map(wanted.map(({ path }) => [String(path), path]))
  const [shared = []] = paths.size === 1 ? paths.values() : []
  const says = new Set(wanted.map(({ path, message }) => [...path.slice(shared.length), message].join(' ')))
  const message = says.size > maxListed ? `matches none of ${outcomes.length} alternatives` : [...says].join(' or ')
  return failed(message, ...shared)
}
