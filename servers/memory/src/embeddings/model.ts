/** What the embedder needs of a model, whether it runs behind a service or in this process. */

import type { Clock } from 'sluice'

export interface EmbeddingModel {
  /** Vectors of different models cannot be compared, so the archive stores this name. */
  readonly model: string
  readonly clock: Clock
  /** Texts in one request. */
  readonly batchSize: number
  /** How long a caller that stores waits for the vectors. */
  readonly maxWaitMs: number
  /** Below this cosine two texts are unrelated. */
  readonly minSimilarity: number
  /** Returns one vector per text. Ends within `patienceMs`. Throws `EmbeddingsUnavailable`. */
  vectors(texts: readonly string[], patienceMs: number): Promise<readonly Float32Array[]>
  close(): Promise<void>
}
