/**
 * Calls a provider over the network with a deadline per attempt, three retries with jitter, a circuit breaker and a
 * rate limit. So neither a slow provider nor a busy client takes the server down. The URL contains the key, so no URL
 * is ever logged or thrown.
 */

import {
  BrokenCircuitError,
  ConsecutiveBreaker,
  circuitBreaker,
  ExponentialBackoff,
  handleType,
  retry,
  wrap,
} from 'cockatiel'
import type { Clock } from 'sluice'
import { memoryStore } from 'sluice'
import { RouteError } from './failure.ts'

export interface UpstreamOptions {
  /** The deadline of one attempt. */
  readonly deadlineMs?: number
  readonly retries?: number
  /** The first pause between attempts; it doubles, with jitter. */
  readonly backoffMs?: number
  /** After ten consecutive failures the provider is not called for this long. */
  readonly breakMs?: number
  /** Requests per second to the provider, over all callers. */
  readonly perSecond?: number
}

export interface UpstreamResponse {
  readonly status: number
  readonly body: unknown
}

export interface Upstream {
  /** Returns answers with 2xx and 4xx; the provider decides what a 4xx means. */
  get(url: URL, signal: AbortSignal): Promise<UpstreamResponse>
}

/** A retry of the same request may succeed. */
class TransientError extends Error {
  readonly retryAfterMs: number | undefined
  constructor(message: string, retryAfterMs?: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

/** More than any route needs. A larger answer would take too long to parse in one turn. */
const maxBytes = 6 * 1024 * 1024

/** Requests may wait for the rate limit up to ten seconds; beyond that, callers are told to retry later. */
const maxWaitS = 10

/** The clock is for the rate limit only; deadlines wait for the network in real time. */
export function createUpstream(clock: Clock, options: UpstreamOptions = {}): Upstream {
  const { deadlineMs = 10_000, retries = 3, backoffMs = 1_000, breakMs = 120_000, perSecond = 10 } = options
  // Only the provider's own failures count. A cancellation says nothing about the provider, so it is neither retried
  // nor counted. Otherwise cancelling callers would open the breaker for all others.
  const isTransient = handleType(TransientError)
  const policy = wrap(
    retry(isTransient, {
      maxAttempts: retries,
      backoff: new ExponentialBackoff({ initialDelay: backoffMs, maxDelay: backoffMs * 4 }),
    }),
    circuitBreaker(isTransient, { halfOpenAfter: breakMs, breaker: new ConsecutiveBreaker(10) }),
  )
  const rate = createRate(clock, perSecond)
  return {
    async get(url, signal) {
      try {
        return await policy.execute(async () => {
          await rate(signal)
          return read(url, signal, deadlineMs)
        }, signal)
      } catch (thrown) {
        if (signal.aborted) throw signal.reason
        if (thrown instanceof TransientError && thrown.retryAfterMs !== undefined)
          throw new RouteError({ code: 'PROVIDER_BUSY', retryAfterMs: thrown.retryAfterMs })
        const isDown = thrown instanceof TransientError || thrown instanceof BrokenCircuitError
        if (isDown) throw new RouteError({ code: 'PROVIDER_UNAVAILABLE', retryAfterMs: breakMs })
        throw thrown
      }
    },
  }
}

/** Resolves when the next request may be sent, in order of arrival. */
function createRate(clock: Clock, perSecond: number): (signal: AbortSignal) => Promise<void> {
  const buckets = memoryStore(clock)
  const maxWaiting = perSecond * maxWaitS
  let waiting = 0
  let last: Promise<void> = Promise.resolve()

  async function pass(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted()
      const waitMs = await buckets.take(['provider'], { burst: perSecond, perSecond })
      if (waitMs <= 0) return
      await pause(clock, waitMs, signal)
    }
  }
  return async (signal) => {
    if (waiting >= maxWaiting)
      throw new RouteError({ code: 'PROVIDER_BUSY', retryAfterMs: (waiting / perSecond) * 1000 })
    waiting++
    const turn = last.then(() => pass(signal)).finally(() => waiting--)
    last = turn.catch(() => {})
    return turn
  }
}

/** Ends early, without an error, when the signal aborts. */
const pause = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      cancelTimer()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancelTimer = clock.after(Math.ceil(ms), end)
    signal.addEventListener('abort', end, { once: true })
  })

async function read(url: URL, caller: AbortSignal, deadlineMs: number): Promise<UpstreamResponse> {
  const signal = AbortSignal.any([caller, AbortSignal.timeout(deadlineMs)])
  try {
    // An error of `fetch` contains the URL, and with it the key, so none is passed on as a cause.
    const response = await fetch(url, { signal, headers: { accept: 'application/json' }, redirect: 'error' })
    if (response.status === 429) throw new TransientError('the provider is busy', retryAfterMs(response))
    if (response.status >= 500) throw new TransientError(`the provider answered ${response.status}`)
    return { status: response.status, body: JSON.parse(await textOf(response)) as unknown }
  } catch (thrown) {
    caller.throwIfAborted()
    if (thrown instanceof TransientError) throw thrown
    throw new TransientError(
      signal.aborted
        ? 'the provider did not answer in time'
        : thrown instanceof SyntaxError
          ? "the provider's answer is not JSON"
          : 'the provider cannot be reached, or the connection was lost',
    )
  }
}

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw new TransientError("the provider's answer is too large")
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function retryAfterMs(response: Response): number {
  const seconds = Number(response.headers.get('retry-after') ?? 1)
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 3600) * 1000 : 1000
}
