/** Tells whether a misspelt name may mean another one. */

import { foldName } from './fold.ts'

/** Names are similar if at most a quarter of the letters differ, or if they share at least half of their words. */
export function isSimilarName(name: string, other: string): boolean {
  const [one, two] = [foldName(name), foldName(other)]
  const maxEdits = Math.floor(Math.max(one.length, two.length) / 4)
  if (Math.abs(one.length - two.length) <= maxEdits && editDistance(one, two) <= maxEdits) return true
  const words = wordsOf(one)
  const known = new Set(wordsOf(two))
  return words.length > 0 && words.filter((word) => known.has(word)).length * 2 >= words.length
}

/** Shorter words, such as "of" and "the", are in every other name. */
const minWordLength = 4

const wordsOf = (name: string): readonly string[] =>
  name.split(/[^\p{L}\p{N}]+/u).filter(({ length }) => length >= minWordLength)

/** Returns how many letters must be added, removed or replaced (Levenshtein). */
function editDistance(one: string, two: string): number {
  let row = Array.from({ length: two.length + 1 }, (_, at) => at)
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1]
    for (const [at, other] of [...two].entries())
      next.push(Math.min((next[at] ?? 0) + 1, (row[at + 1] ?? 0) + 1, (row[at] ?? 0) + (letter === other ? 0 : 1)))
    row = next
  }
  return row.at(-1) ?? 0
}
