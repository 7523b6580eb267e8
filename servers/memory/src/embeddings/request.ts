/** One question to the embedding service, asked again where that may help, never longer than told. */

import type { Clock } from 'sluice'
import type { Wire } from './wire.ts'
import { parseVectors } from './wire.ts'

/** Away: asking again may help. Misconfigured: it will not. Text: the service would not take one of the texts. */
type Trouble = 'away' | 'misconfigured' | 'text'

/** Why there are no vectors: the end of a sentence for people and models, without the service's address. */
export class Away extends Error {
  override readonly name = 'Away'
  readonly trouble: Trouble
  constructor(message: string, trouble: Trouble = 'away') {
    super(message)
    this.trouble = trouble
  }
}

export interface Service {
  readonly wire: Wire
  readonly url: string
  readonly model: string
  readonly key: string | undefined
  readonly clock: Clock
  readonly fetch: typeof fetch
  /** The server ends: nobody waits any more. */
  readonly closing: AbortSignal
}

const tries = 3
const pauseMs = 200
/** Statuses that pass by themselves. */
const passing = new Set([408, 429, 500, 502, 503, 504])

/** Ends within `patienceMs`, pauses included. */
export async function request(
  service: Service,
  texts: readonly string[],
  patienceMs: number,
): Promise<readonly Float32Array[]> {
  const { clock, closing } = service
  const ending = new AbortController()
  const stop = (): void => ending.abort()
  const callOff = clock.after(patienceMs, stop)
  closing.addEventListener('abort', stop)
  const silent = new Away(`it did not answer within ${patienceMs / 1000} s`)
  const end = new Promise<never>((_, reject) => {
    ending.signal.addEventListener('abort', () => reject(silent))
  })
  end.catch(() => {})
  try {
    for (let attempt = 1; ; attempt++) {
      const answer = await Promise.race([attemptOnce(service, texts, ending.signal), end])
      if (!(answer instanceof Away)) return answer
      if (answer.trouble !== 'away' || attempt === tries) throw answer
      const pause = new Promise<void>((resolve) => {
        clock.after(pauseMs * 4 ** (attempt - 1), resolve)
      })
      await Promise.race([pause, end])
    }
  } finally {
    callOff()
    closing.removeEventListener('abort', stop)
  }
}

async function attemptOnce(
  service: Service,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<readonly Float32Array[] | Away> {
  const { wire, url, model, key } = service
  try {
    const response = await service.fetch(`${url.replace(/\/+$/, '')}${wire.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
      body: JSON.stringify(wire.request(model, texts)),
      // The key and the texts go where they were meant to go, nowhere else.
      redirect: 'error',
      signal,
    })
    if (!response.ok) {
      await response.body?.cancel()
      return refusal(response.status, model)
    }
    const vectors = parseVectors(wire.vectors(await response.json()), texts.length)
    return typeof vectors === 'string' ? new Away(vectors, 'misconfigured') : vectors
  } catch {
    return new Away('it cannot be reached')
  }
}

function refusal(status: number, model: string): Away {
  if (status === 401 || status === 403) return new Away('it refuses the key', 'misconfigured')
  if (status === 404) return new Away(`it does not know the model ${model}`, 'misconfigured')
  if (status === 400 || status === 413 || status === 422) return new Away(`it answers with status ${status}`, 'text')
  return new Away(`it answers with status ${status}`, passing.has(status) ? 'away' : 'misconfigured')
}
