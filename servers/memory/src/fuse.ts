/**
 * Fuses two rankings by reciprocal rank: hits in both come first, then those high in either. It uses ranks instead of
 * scores, because a BM25 score and a cosine are not comparable.
 */

import type { Hit } from './archive.ts'

/**
 * Controls how much the first ranks count. The usual value is 60, for many rankings. Of these two, each often misses
 * what the other finds (a synonym, a part number). With 60, hits that both rank in the middle would outrank the first
 * hit of one. `npm run bench -- servers` measures it.
 */
const k = 2

export interface FusedHit extends Hit {
  /** From 0 to 1; first in every ranking is 1. With a single ranking, by its own scores. */
  readonly score: number
}

/** Returns each memory once, by its best chunk. */
export function fuse(rankings: readonly (readonly Hit[])[], limit: number): readonly FusedHit[] {
  const nonEmpty = rankings.filter(({ length }) => length > 0)
  const [only] = nonEmpty
  const byMemory = new Map<number, FusedHit>()
  if (only && nonEmpty.length === 1) for (const hit of only) keepBest(byMemory, hit, relativeScore(hit, only))
  else {
    const scores = new Map<number, { readonly hit: Hit; sum: number }>()
    for (const ranking of nonEmpty)
      for (const [rank, hit] of ranking.entries()) {
        const entry = scores.get(hit.piece) ?? { hit, sum: 0 }
        entry.sum += (k + 1) / (k + rank + 1) / nonEmpty.length
        scores.set(hit.piece, entry)
      }
    for (const { hit, sum } of scores.values()) keepBest(byMemory, hit, sum)
  }
  return [...byMemory.values()].sort((a, b) => b.score - a.score || b.memory - a.memory).slice(0, limit)
}

const relativeScore = ({ score }: Hit, [best]: readonly Hit[]): number =>
  best && best.score > 0 ? Math.min(1, Math.max(0, score / best.score)) : 1

function keepBest(byMemory: Map<number, FusedHit>, hit: Hit, score: number): void {
  const known = byMemory.get(hit.memory)
  if (!known || known.score < score) byMemory.set(hit.memory, { ...hit, score })
}
