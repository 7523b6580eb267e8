/** Chooses the embedding model from the environment. By default there is none, so that texts stay on this machine. */

import { readFileSync } from 'node:fs'
import type { Clock } from 'sluice'
import { localModel } from './local-model.ts'
import type { EmbeddingModel } from './model.ts'
import type { EmbeddingService } from './request.ts'
import { serviceModel } from './request.ts'
import { wires } from './wire.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Throws a sentence about what to set or install. */
export function embeddingModel(env: Env, clock: Clock, closing: AbortSignal): EmbeddingModel | undefined {
  if (env['SLUICE_MEMORY_EMBEDDINGS'] === 'local') return localModel(clock)
  const service = embeddingService(env, clock, closing)
  return service && serviceModel(service)
}

/** Throws a sentence about what to set if the settings contradict each other. */
export function embeddingService(env: Env, clock: Clock, closing: AbortSignal): EmbeddingService | undefined {
  const kind = env['SLUICE_MEMORY_EMBEDDINGS']
  if (!kind || kind === 'none') return undefined
  if (kind !== 'ollama' && kind !== 'openai')
    throw new Error(`SLUICE_MEMORY_EMBEDDINGS is "${kind}"; set it to local, ollama, openai or none`)
  const isOllama = kind === 'ollama'
  const url = env['SLUICE_MEMORY_EMBEDDINGS_URL'] || (isOllama ? 'http://127.0.0.1:11434' : undefined)
  const model = env['SLUICE_MEMORY_EMBEDDINGS_MODEL'] || (isOllama ? 'nomic-embed-text' : undefined)
  if (!url || !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new Error('SLUICE_MEMORY_EMBEDDINGS_URL needs the address of the service, such as https://api.openai.com/v1')
  if (!model)
    throw new Error('SLUICE_MEMORY_EMBEDDINGS_MODEL needs the name of a model, such as text-embedding-3-small')
  return { wire: wires[kind], url, model, key: keyFrom(env), clock, fetch, closing }
}

function keyFrom(env: Env): string | undefined {
  const path = env['SLUICE_MEMORY_EMBEDDINGS_KEY_FILE']
  return env['SLUICE_MEMORY_EMBEDDINGS_KEY'] || (path ? readFileSync(path, 'utf8').trim() : undefined)
}
