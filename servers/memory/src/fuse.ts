/**
 * Two rankings made one by reciprocal rank: what stands high in either comes first, what stands in both before that.
 * Ranks and not scores, because a BM25 score and a cosine have nothing in common.
 */

import type { Hit } from './archive.ts'

/**
 * How little the first places count more than those behind them. 60 is usual where many rankings are joined; of these
 * two each is often blind where the other is sure (a synonym, a part number), and with 60 what both find middling
 * drowns what one finds first. `npm run bench -- servers` measures it.
 */
const k = 2

export interface FusedHit extends Hit {
  /** From 0 to 1: first in every ranking is 1. Within one ranking, by its own scores. */
  readonly score: number
}

/** Each memory once, by its best piece. */
export function fuse(rankings: readonly (readonly Hit[])[], limit: number): readonly FusedHit[] {
  const told = rankings.filter(({ length }) => length > 0)
  const [only] = told
  const byMemory = new Map<number, FusedHit>()
  if (only && told.length === 1) for (const hit of only) keepBest(byMemory, hit, relativeScore(hit, only))
  else {
    const scores = new Map<number, { readonly hit: Hit; sum: number }>()
    for (const ranking of told)
      for (const [rank, hit] of ranking.entries()) {
        const entry = scores.get(hit.piece) ?? { hit, sum: 0 }
        entry.sum += (k + 1) / (k + rank + 1) / told.length
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
