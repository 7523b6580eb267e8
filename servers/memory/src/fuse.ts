/**
 * Fuses two rankings by reciprocal rank: hits in both come first, then those high in either. It uses ranks instead of
 * scores, because a BM25 score and a cosine are not comparable. For the same reason the result has no score.
 */

import type { Hit } from './archive.ts'

/**
 * Controls how much the first ranks count. The usual value is 60, for many rankings. Of these two, each often misses
 * what the other finds (a synonym, a part number). With 60, hits that both rank in the middle would outrank the first
 * hit of one. `npm run bench -- servers` measures it.
 */
const k = 2

export type FusedHit = Omit<Hit, 'score'>

/** Returns each memory once, by its best chunk. */
export function fuse(rankings: readonly (readonly Hit[])[], limit: number): readonly FusedHit[] {
  const byPiece = new Map<number, { readonly hit: Hit; weight: number }>()
  for (const ranking of rankings)
    for (const [rank, hit] of ranking.entries()) {
      const entry = byPiece.get(hit.piece) ?? { hit, weight: 0 }
      entry.weight += 1 / (k + rank + 1)
      byPiece.set(hit.piece, entry)
    }
  const byMemory = new Map<number, { readonly hit: Hit; readonly weight: number }>()
  for (const entry of byPiece.values()) {
    const known = byMemory.get(entry.hit.memory)
    if (!known || known.weight < entry.weight) byMemory.set(entry.hit.memory, entry)
  }
  return [...byMemory.values()]
    .sort((a, b) => b.weight - a.weight || b.hit.memory - a.hit.memory)
    .slice(0, limit)
    .map(({ hit: { score: _, ...hit } }) => hit)
}
