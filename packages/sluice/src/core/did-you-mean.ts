/** Finds the known word that is closest to a mistyped one. */

/** Returns `; did you mean "…"?`, or an empty text if no known word is close. */
export const didYouMean = (word: string, known: readonly string[]): string => {
  const meant = closest(word, known)
  return meant === undefined ? '' : `; did you mean "${meant}"?`
}

function closest(word: string, known: readonly string[]): string | undefined {
  const close = known
    .map((each) => ({ each, distance: distance(word.toLowerCase(), each.toLowerCase()) }))
    .filter(({ distance }) => distance <= Math.max(1, Math.floor(word.length / 3)))
    .sort((a, b) => a.distance - b.distance)
  return close[0]?.each
}

/** Counts the edits between two words. A swap of two neighbours counts as one. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, at) => at)]
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    rows.push(row)
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1
      let min = Math.min(at(i - 1, j) + 1, (row[j - 1] ?? 0) + 1, at(i - 1, j - 1) + change)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) min = Math.min(min, at(i - 2, j - 2) + 1)
      row.push(min)
    }
  }
  return at(a.length, b.length)
}
