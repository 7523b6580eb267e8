/**
 * An embedding service for tests, with OpenAI's and Ollama's wire formats and configurable failures.
 *
 * Its vectors are computed, not learnt: each word has its own direction, and synonyms share one. That is enough for
 * tests of retrieval, and the same on every machine. https://platform.openai.com/docs/api-reference/embeddings,
 * https://docs.ollama.com/api/embed
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { synonymGroupOf } from '../generators/synonyms.ts'

export interface EmbeddingServer {
  /** Ollama's address; OpenAI's is `${url}/v1`. */
  readonly url: string
  /** The texts of each request, in order. */
  readonly requests: readonly (readonly string[])[]
  /** The `Authorization` header of the last request. */
  readonly authorization: string | undefined
  /** How it answers from now on. */
  behave(as: Misbehaviour): void
  stop(): Promise<void>
}

/**
 * `length`: vectors of another length. `status`: an error. `raw`: any body. `hang`: accepts the request and never
 * answers.
 */
export type Misbehaviour =
  | 'well'
  | 'hang'
  | { readonly length: number }
  | { readonly status: number; readonly times?: number }
  | { readonly raw: string }
  | { readonly refuses: string }

export const vectorLength = 384

export async function startEmbeddings(): Promise<EmbeddingServer> {
  const requests: (readonly string[])[] = []
  let authorization: string | undefined
  let behaviour: Misbehaviour = 'well'
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { input } = JSON.parse(await bodyOf(request)) as { input: readonly string[] }
    requests.push(input)
    authorization = request.headers.authorization
    answer(request, response, input)
  }
  function answer(request: IncomingMessage, response: ServerResponse, input: readonly string[]): void {
    if (behaviour === 'hang') return
    if (behaviour !== 'well' && 'raw' in behaviour) {
      response.end(behaviour.raw)
      return
    }
    if (behaviour !== 'well' && 'status' in behaviour) {
      const { status, times = Number.POSITIVE_INFINITY } = behaviour
      behaviour = times > 1 ? { status, times: times - 1 } : 'well'
      response.statusCode = status
      response.end('{"error":{"message":"no"}}')
      return
    }
    if (behaviour !== 'well' && 'refuses' in behaviour && input.some((text) => text.includes(refusedBy(behaviour)))) {
      response.statusCode = 400
      response.end('{"error":{"message":"too long"}}')
      return
    }
    const size = behaviour !== 'well' && 'length' in behaviour ? behaviour.length : vectorLength
    const vectors = input.map((text) => vectorOf(text, size))
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify(
        request.url === '/api/embed'
          ? { model: 'double', embeddings: vectors }
          : // In reverse order: the format allows it, because each vector has its index.
            {
              object: 'list',
              data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })).reverse(),
            },
      ),
    )
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (!address || typeof address === 'string') throw new Error('No port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    get authorization() {
      return authorization
    },
    behave(as) {
      behaviour = as
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const refusedBy = (behaviour: Misbehaviour): string =>
  typeof behaviour === 'object' && 'refuses' in behaviour ? behaviour.refuses : ''

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}

const fewNumbers = /^(.{1,2}|the|and|for|was|did|who|what|with|that|this|about|from|where|when|does)$/

/** Common words carry little meaning; each other word adds its direction. */
export function vectorOf(text: string, size: number = vectorLength): readonly number[] {
  const sum = new Float64Array(size)
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const weight = fewNumbers.test(word) ? 0.1 : 1
    let state = hash(synonymGroupOf(word))
    for (let at = 0; at < size; at++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      sum[at] = (sum[at] ?? 0) + weight * (state / 2147483648 - 1)
    }
  }
  const size2 = Math.sqrt(sum.reduce((total, value) => total + value * value, 0)) || 1
  return Array.from(sum, (value, at) => value / size2 || (at === 0 ? 1e-9 : 0))
}

/** FNV-1a, mixed once more so that similar words do not start in similar directions. */
function hash(text: string): number {
  let state = 2166136261
  for (let at = 0; at < text.length; at++) state = Math.imul(state ^ text.charCodeAt(at), 16777619)
  state ^= state >>> 15
  return Math.imul(state, 2246822519) >>> 0
}
