/**
 * Calls to a provider on the network: a deadline for each try, three retries with jitter, a circuit breaker, and a rate,
 * so that neither a slow provider nor a busy client takes the server with it. The key is in the URL there, so no URL is
 * ever logged or thrown.
 */

import {
  BrokenCircuitError,
  ConsecutiveBreaker,
  circuitBreaker,
  ExponentialBackoff,
  handleWhen,
  retry,
  TaskCancelledError,
  TimeoutStrategy,
  timeout,
  wrap,
} from 'cockatiel'
import type { Clock } from 'sluice'
import { memoryStore } from 'sluice'
import { RouteError } from './failure.ts'

export interface UpstreamOptions {
  /** For one try. */
  readonly deadlineMs?: number
  readonly retries?: number
  /** The first wait between tries; it doubles, with jitter. */
  readonly backoffMs?: number
  /** After ten failures in a row the provider is left alone this long. */
  readonly restMs?: number
  /** Requests per second to the provider, over all callers. */
  readonly perSecond?: number
}

export interface Reply {
  readonly status: number
  readonly body: unknown
}

export interface Upstream {
  /** Answers of 2xx and 4xx; the provider decides what a 4xx means. */
  get(url: URL, signal: AbortSignal): Promise<Reply>
}

/** Worth another try: the same request may succeed. */
class Passing extends Error {
  readonly retryAfterMs: number | undefined
  constructor(message: string, retryAfterMs?: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

/** More than any route: a provider gone wrong must not fill our memory. */
const maxBytes = 16 * 1024 * 1024

/** The clock is the rate's: what waits and what times out waits for the network, in its time. */
export function createUpstream(clock: Clock, options: UpstreamOptions = {}): Upstream {
  const { deadlineMs = 10_000, retries = 3, backoffMs = 1_000, restMs = 120_000, perSecond = 10 } = options
  const isPassing = handleWhen((error) => error instanceof Passing || error instanceof TaskCancelledError)
  const policy = wrap(
    retry(isPassing, {
      maxAttempts: retries,
      backoff: new ExponentialBackoff({ initialDelay: backoffMs, maxDelay: backoffMs * 4 }),
    }),
    circuitBreaker(isPassing, { halfOpenAfter: restMs, breaker: new ConsecutiveBreaker(10) }),
    timeout(deadlineMs, TimeoutStrategy.Aggressive),
  )
  const buckets = memoryStore(clock)
  return {
    async get(url, signal) {
      const waitMs = await buckets.take(['provider'], { capacity: perSecond, perSecond })
      if (waitMs > 0) throw new RouteError({ code: 'PROVIDER_BUSY', retryAfterMs: waitMs })
      try {
        return await policy.execute(({ signal: own }) => read(url, own ?? signal), signal)
      } catch (thrown) {
        if (signal.aborted) throw signal.reason
        if (thrown instanceof Passing && thrown.retryAfterMs !== undefined)
          throw new RouteError({ code: 'PROVIDER_BUSY', retryAfterMs: thrown.retryAfterMs })
        const isDown =
          thrown instanceof Passing || thrown instanceof BrokenCircuitError || thrown instanceof TaskCancelledError
        if (isDown) throw new RouteError({ code: 'PROVIDER_UNAVAILABLE', retryAfterMs: restMs })
        throw thrown
      }
    },
  }
}

async function read(url: URL, signal: AbortSignal): Promise<Reply> {
  const response = await fetch(url, { signal, headers: { accept: 'application/json' }, redirect: 'error' }).catch(
    () => {
      // The cause names the URL, and with it the key.
      throw new Passing('the provider cannot be reached')
    },
  )
  if (response.status === 429) throw new Passing('the provider is busy', retryAfterMs(response))
  if (response.status >= 500) throw new Passing(`the provider answered ${response.status}`)
  const text = await textOf(response)
  try {
    return { status: response.status, body: JSON.parse(text) as unknown }
  } catch {
    throw new Passing('the provider answered something that is no JSON')
  }
}

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.length
      if (size > maxBytes) throw new Passing('the provider answered too much')
      chunks.push(chunk)
    }
  } catch (thrown) {
    throw thrown instanceof Passing ? thrown : new Passing('the provider broke off')
  }
  return Buffer.concat(chunks).toString('utf8')
}

function retryAfterMs(response: Response): number {
  const seconds = Number(response.headers.get('retry-after') ?? 1)
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 3600) * 1000 : 1000
}
