/**
 * Turns texts into vectors: known texts from a cache, the rest in batches. After a failure the service is not called
 * for a while.
 */

import { createHash } from 'node:crypto'
import { createAverages } from '../average.ts'
import type { EmbeddingModel } from './model.ts'
import { EmbeddingsUnavailable } from './request.ts'

export interface Embedder {
  readonly model: string
  /** Texts in one request. */
  readonly batchSize: number
  /** How long a caller that stores waits for the vectors. */
  readonly maxWaitMs: number
  /** Below this cosine two texts are unrelated. */
  readonly minSimilarity: number
  /** Ends within `patienceMs`. Throws `EmbeddingsUnavailable`. */
  embed(tenant: string, texts: readonly string[], patienceMs: number): Promise<readonly Float32Array[]>
  /**
   * Requests a vector of a plain text, past the cache. Throws `EmbeddingsUnavailable` if the service rejects that too:
   * then a rejection says nothing about the rejected text.
   */
  probe(patienceMs: number): Promise<void>
  /** The share of the tenant's latest texts that were cached. */
  hitRate(tenant: string): number | undefined
}

/** After a failure, calls do not wait for the service during this time. */
const backoffMs = 30_000
/** 10,000 vectors of 768 numbers are 30 MB. */
const maxCached = 10_000

/** A text that every model accepts. */
const probeText = 'memory'

export function createEmbedder(service: EmbeddingModel): Embedder {
  const { batchSize } = service
  const known = new Map<string, Float32Array>()
  const hits = createAverages()
  let failed: { readonly until: number; readonly why: EmbeddingsUnavailable } | undefined

  /** The cache is per tenant: otherwise the response time would tell whether another tenant has stored a text. */
  const keyOf = (tenant: string, text: string): string =>
    createHash('sha256')
      .update(JSON.stringify([tenant, service.model, text]))
      .digest('base64')

  function remember(key: string, vector: Float32Array): void {
    known.delete(key)
    known.set(key, vector)
    if (known.size > maxCached) known.delete(known.keys().next().value ?? '')
  }
  async function fetchBatch(texts: readonly string[], patienceMs: number): Promise<readonly Float32Array[]> {
    if (failed && service.clock.now() < failed.until) throw failed.why
    try {
      const vectors = await service.vectors(texts, patienceMs)
      failed = undefined
      return vectors
    } catch (thrown) {
      if (thrown instanceof EmbeddingsUnavailable && thrown.kind !== 'text') rest(thrown)
      throw thrown
    }
  }
  function rest(why: EmbeddingsUnavailable): void {
    failed = { until: service.clock.now() + backoffMs, why }
  }

  return {
    model: service.model,
    batchSize,
    maxWaitMs: service.maxWaitMs,
    minSimilarity: service.minSimilarity,
    async embed(tenant, texts, patienceMs) {
      const keys = texts.map((text) => keyOf(tenant, text))
      const found = new Map<string, Float32Array>()
      const missing = new Map<string, string>()
      for (const [at, key] of keys.entries()) {
        const vector = known.get(key)
        if (vector) found.set(key, vector)
        else missing.set(key, texts[at] ?? '')
      }
      for (const key of keys) hits.add(tenant, found.has(key) ? 1 : 0)
      const until = service.clock.now() + patienceMs
      const remaining = [...missing]
      for (let at = 0; at < remaining.length; at += batchSize) {
        const batch = remaining.slice(at, at + batchSize)
        const vectors = await fetchBatch(
          batch.map(([, text]) => text),
          Math.max(1, until - service.clock.now()),
        )
        for (const [index, [key]] of batch.entries()) {
          const vector = vectors[index]
          if (!vector) continue
          found.set(key, vector)
          remember(key, vector)
        }
      }
      return keys.map((key) => found.get(key) ?? new Float32Array())
    },
    async probe(patienceMs) {
      try {
        await fetchBatch([probeText], patienceMs)
      } catch (thrown) {
        if (!(thrown instanceof EmbeddingsUnavailable) || thrown.kind !== 'text') throw thrown
        const why = new EmbeddingsUnavailable(`${thrown.message} for any text`, 'misconfigured')
        rest(why)
        throw why
      }
    },
    hitRate: (tenant) => hits.average(tenant),
  }
}
