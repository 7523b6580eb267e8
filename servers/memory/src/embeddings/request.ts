/** Sends one request to the embedding service, with retries if they may help, within a time limit. */

import type { Clock } from 'sluice'
import type { EmbeddingModel } from './model.ts'
import type { Wire } from './wire.ts'
import { parseVectors } from './wire.ts'

/** away: a retry may help. misconfigured: it will not. text: the service rejected one of the texts. */
type FailureKind = 'away' | 'misconfigured' | 'text'

/** Why there are no vectors: the end of a sentence for people and models, without the service's address. */
export class EmbeddingsUnavailable extends Error {
  override readonly name = 'EmbeddingsUnavailable'
  readonly kind: FailureKind
  constructor(message: string, kind: FailureKind = 'away') {
    super(message)
    this.kind = kind
  }
}

export interface EmbeddingService {
  readonly wire: Wire
  readonly url: string
  readonly model: string
  readonly key: string | undefined
  readonly clock: Clock
  readonly fetch: typeof fetch
  /** The server is closing, and no caller waits any more. */
  readonly closing: AbortSignal
}

/** The model behind a service. */
export const serviceModel = (service: EmbeddingService): EmbeddingModel => ({
  model: service.model,
  clock: service.clock,
  batchSize: 64,
  maxWaitMs: 5_000,
  minSimilarity: 0.2,
  vectors: (texts, patienceMs) => request(service, texts, patienceMs),
  close: async () => {},
})

const maxAttempts = 3
const pauseMs = 200
/** Temporary failures. */
const retryableStatuses = new Set([408, 429, 500, 502, 503, 504])

/** Ends within `patienceMs`, pauses included. */
async function request(
  service: EmbeddingService,
  texts: readonly string[],
  patienceMs: number,
): Promise<readonly Float32Array[]> {
  const { clock, closing } = service
  const ending = new AbortController()
  const stop = (): void => ending.abort()
  const cancelTimer = clock.after(patienceMs, stop)
  closing.addEventListener('abort', stop)
  const silent = new EmbeddingsUnavailable(`it did not answer within ${patienceMs / 1000} s`)
  const end = new Promise<never>((_, reject) => {
    ending.signal.addEventListener('abort', () => reject(silent))
  })
  end.catch(() => {})
  try {
    for (let attempt = 1; ; attempt++) {
      const answer = await Promise.race([attemptOnce(service, texts, ending.signal), end])
      if (!(answer instanceof EmbeddingsUnavailable)) return answer
      if (answer.kind !== 'away' || attempt === maxAttempts) throw answer
      const pause = new Promise<void>((resolve) => {
        clock.after(pauseMs * 4 ** (attempt - 1), resolve)
      })
      await Promise.race([pause, end])
    }
  } finally {
    cancelTimer()
    closing.removeEventListener('abort', stop)
  }
}

async function attemptOnce(
  service: EmbeddingService,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<readonly Float32Array[] | EmbeddingsUnavailable> {
  const { wire, url, model, key } = service
  try {
    const response = await service.fetch(`${url.replace(/\/+$/, '')}${wire.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
      body: JSON.stringify(wire.request(model, texts)),
      // A redirect would send the key and the texts to another host.
      redirect: 'error',
      signal,
    })
    if (!response.ok) {
      await response.body?.cancel()
      return toUnavailable(response.status, model)
    }
    const vectors = parseVectors(wire.vectors(await response.json()), texts.length)
    return typeof vectors === 'string' ? new EmbeddingsUnavailable(vectors, 'misconfigured') : vectors
  } catch {
    return new EmbeddingsUnavailable('it cannot be reached')
  }
}

function toUnavailable(status: number, model: string): EmbeddingsUnavailable {
  if (status === 401 || status === 403) return new EmbeddingsUnavailable('it refuses the key', 'misconfigured')
  if (status === 404) return new EmbeddingsUnavailable(`it does not know the model ${model}`, 'misconfigured')
  if (status === 400 || status === 413 || status === 422)
    return new EmbeddingsUnavailable(`it answers with status ${status}`, 'text')
  return new EmbeddingsUnavailable(
    `it answers with status ${status}`,
    retryableStatuses.has(status) ? 'away' : 'misconfigured',
  )
}
