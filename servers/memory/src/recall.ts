/** Searches a workspace: always by words, and by meaning if an embedding service is configured and answers. */

import type { Clock } from 'sluice'
import type { Filters, Hit, Memory, Workspace } from './archive.ts'
import { createAverages } from './average.ts'
import type { Embedder } from './embeddings/embedder.ts'
import { reasonOf } from './embeddings/reason.ts'
import { fuse } from './fuse.ts'
import { wordsOf } from './words.ts'

export interface RecalledMemory {
  /** The memory, with the matching chunk as its text. */
  readonly memory: Memory
  /** The chunk as a range of the memory's whole text. */
  readonly start: number
  readonly end: number
  /** The rankings that found it. */
  readonly foundBy: readonly FoundBy[]
  /** The cosine of the query and the chunk, if the search by meaning found it. Comparable for one model only. */
  readonly similarity: number | undefined
}
type FoundBy = 'words' | 'meaning'
export interface RecallResult {
  readonly found: readonly RecalledMemory[]
  readonly mode: 'text' | 'hybrid'
  /** Whether the query contains only words that are in every text. */
  readonly hasOnlyStopWords: boolean
  /** Why the search by meaning is missing from this result. */
  readonly note: string | undefined
}

export interface Recall {
  search(workspace: Workspace, query: string, filters: Filters, limit: number): Promise<RecallResult>
  /** The average over the tenant's latest searches, in milliseconds. */
  averageMs(tenant: string): number | undefined
}

/** How long a search waits for the vector of its query. */
const embedTimeoutMs = 5_000

export function createRecall(embedder: Embedder | undefined, clock: Clock): Recall {
  const latest = createAverages()

  async function byMeaning(
    workspace: Workspace,
    query: string,
    filters: Filters,
    limit: number,
  ): Promise<readonly Hit[] | string> {
    if (!embedder) return []
    try {
      const [vector] = await embedder.embed(workspace.tenant, [query], embedTimeoutMs)
      if (!vector) return []
      const hits = await workspace.searchVectors(vector, filters, limit)
      return hits.filter(({ score }) => score >= embedder.minSimilarity)
    } catch (thrown) {
      return reasonOf(thrown, embedder.model)
    }
  }
  return {
    async search(workspace, query, filters, limit) {
      const begun = clock.now()
      // More than requested: several chunks may belong to one memory, and a hit low in one ranking may be high in the
      // other.
      const wide = Math.max(50, limit * 3)
      const words = wordsOf(query)
      const [text, meaning] = await Promise.all([
        workspace.searchText(words, filters, wide),
        byMeaning(workspace, query, filters, wide),
      ])
      const isAway = typeof meaning === 'string'
      const near = isAway ? [] : meaning
      const hits = fuse([text, near], limit)
      const inText = new Set(text.map(({ piece }) => piece))
      const similarities = new Map(near.map(({ piece, score }) => [piece, score]))
      const memories = await workspace.read(hits)
      latest.add(workspace.tenant, clock.now() - begun)
      return {
        found: hits.flatMap(({ memory: key, piece, start, end }) => {
          const memory = memories.get(key)
          const similarity = similarities.get(piece)
          const foundBy: readonly FoundBy[] = [
            ...(inText.has(piece) ? (['words'] as const) : []),
            ...(similarity === undefined ? [] : (['meaning'] as const)),
          ]
          return memory ? [{ memory, start, end, foundBy, similarity }] : []
        }),
        hasOnlyStopWords: words.length === 0,
        mode: embedder && !isAway ? 'hybrid' : 'text',
        note: isAway ? `${meaning} Searched by words only.` : undefined,
      }
    },
    averageMs: (tenant) => latest.average(tenant),
  }
}
