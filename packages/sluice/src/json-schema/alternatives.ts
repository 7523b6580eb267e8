/**
 * Reports a value that matches none of several alternatives.
 *
 * Their issues together would contradict each other: no shape can be a circle and a square. So only the closest
 * alternative is reported, or all equally close ones in one sentence.
 */

import type { TestOutcome } from './outcome.ts'
import { failed } from './outcome.ts'

const maxListed = 4

export function closestOf(outcomes: readonly TestOutcome[]): TestOutcome {
  // The caller meant an alternative that accepts the value itself, though not its members.
  const deeper = outcomes.filter(({ issues }) => issues.every(({ path }) => path.length > 0))
  const fewest = Math.min(...deeper.map(({ issues }) => issues.length))
  const closest = deeper.filter(({ issues }) => issues.length === fewest)
  if (closest[0] && (closest.length === 1 || fewest > 1)) return closest[0]
  const outright = outcomes.flatMap(({ issues }) => issues.filter(({ path }) => path.length === 0).slice(0, 1))
  const reported = closest.length > 0 ? closest.flatMap(({ issues }) => issues) : outright
  const paths = new Map(reported.map(({ path }) => [String(path), path]))
  const [shared = []] = paths.size === 1 ? paths.values() : []
  const sentences = new Set(reported.map(({ path, message }) => [...path.slice(shared.length), message].join(' ')))
  const message =
    sentences.size > maxListed ? `matches none of ${outcomes.length} alternatives` : [...sentences].join(' or ')
  return failed(message, ...shared)
}
