/** Compares two texts line by line, for a person who reviews a changed definition. */

import type { DiffLine } from './review.ts'

/** A larger comparison takes too long for the serving thread. Then all lines are shown, old ones first. */
const maxCells = 1_000_000

/** Returns the lines of both texts in one order, each as the same, removed or added. */
export function diffLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end++
  return [
    ...marked('same', before.slice(0, start)),
    ...diffMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...marked('same', end === 0 ? [] : before.slice(-end)),
  ]
}

const marked = (change: DiffLine['change'], lines: readonly string[]): readonly DiffLine[] =>
  lines.map((text) => ({ change, text }))

/** Finds the longest common lines by dynamic programming. */
function diffMiddle(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  if (before.length * after.length > maxCells) return [...marked('removed', before), ...marked('added', after)]
  const width = after.length + 1
  const common = new Uint32Array((before.length + 1) * width)
  const at = (i: number, j: number): number => common[i * width + j] ?? 0
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      common[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    const [old, now] = [before[i], after[j]]
    if (old !== undefined && old === now) {
      lines.push({ change: 'same', text: old })
      i++
      j++
    } else if (old !== undefined && (now === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ change: 'removed', text: old })
      i++
    } else if (now !== undefined) {
      lines.push({ change: 'added', text: now })
      j++
    }
  }
  return lines
}
