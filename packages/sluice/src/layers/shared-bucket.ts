/**
 * Takes one token from a bucket that all processes share, or from a local one while the store is unavailable. Limits
 * may loosen but never vanish, and no call waits for a store that does not respond.
 */

import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import { isEdgeRuntime } from '../core/secrets.ts'
import type { Bucket, Key, Store } from '../core/store.ts'

/** Returns 0 if a token was taken; otherwise the milliseconds until one is available. */
export type TakeToken = (key: Key, bucket: Bucket) => Promise<number>

export interface SharedBucketOptions {
  readonly store: Store
  /** A store in this process. If it is the same as `store`, no call falls back or waits. */
  readonly local: Store
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * How long a call waits for the store: at most 250 ms, counted in ticks. A tool that blocks the event loop for that
 * long costs one tick. By the clock the store would seem silent, although its response has arrived.
 */
const tickMs = 50
const ticksToWait = 5
/**
 * How often an unavailable store is tried again. Not by every call, because the load would hit the store when it has
 * just recovered.
 */
const retryMs = 1_000

interface Waiting {
  /** The number of ticks when the wait began. */
  readonly since: number
  settle(waitMs: number | undefined): void
}

export function takeWithFallback({ store, local, clock, logger }: SharedBucketOptions): TakeToken {
  if (store === local) return (key, bucket) => local.take(key, bucket)
  /** When the store was last found unavailable; `undefined` while it is available. */
  let triedAt: number | undefined

  // On workerd timers and connections end with their request, so no call relies on those of another.
  const isAlone = isEdgeRuntime()
  const waiting = new Set<Waiting>()
  let ticks = 0
  let ticking = false
  /** One timer for all waiting calls, because one for each would cost as much as a small call. */
  function tick(): void {
    ticks++
    for (const each of waiting) if (ticks - each.since >= ticksToWait) each.settle(undefined)
    ticking = waiting.size > 0
    if (ticking) clock.after(tickMs, tick)
  }

  /** Resolves with `undefined` if the store fails or takes too long. */
  function ask(key: Key, bucket: Bucket): Promise<number | undefined> {
    return new Promise((resolve) => {
      let cancelTimer = (): void => {}
      const each: Waiting = {
        since: ticks,
        settle(waitMs) {
          waiting.delete(each)
          cancelTimer()
          resolve(waitMs)
        },
      }
      if (isAlone) cancelTimer = clock.after(tickMs * ticksToWait, () => each.settle(undefined))
      else waiting.add(each)
      if (!isAlone && !ticking) {
        ticking = true
        clock.after(tickMs, tick)
      }
      try {
        store.take(key, bucket).then(each.settle, () => each.settle(undefined))
      } catch {
        each.settle(undefined)
      }
    })
  }
  async function shared(key: Key, bucket: Bucket): Promise<number> {
    const waitMs = await ask(key, bucket)
    if (waitMs !== undefined) return waitMs
    if (triedAt === undefined)
      logger.warn({ event: 'limits_local', message: 'The store is unavailable: rate limits are local' })
    triedAt ??= clock.now()
    return local.take(key, bucket)
  }
  /** Tries the store in the background. The call that triggered it is answered locally. */
  async function tryAgain(key: Key, bucket: Bucket): Promise<number | undefined> {
    triedAt = clock.now()
    const waitMs = await ask(key, bucket)
    if (waitMs === undefined) return undefined
    triedAt = undefined
    logger.info({ event: 'limits_shared', message: 'The store is available: rate limits are shared again' })
    return waitMs
  }

  return function take(key, bucket) {
    if (triedAt === undefined) return shared(key, bucket)
    const since = clock.now() - triedAt
    // A clock that was set back must not delay the retry, and a logger that throws must not fail the call.
    const trying = since >= retryMs || since < 0 ? tryAgain(key, bucket).catch(() => undefined) : undefined
    if (isAlone && trying) return trying.then((waitMs) => waitMs ?? local.take(key, bucket))
    return local.take(key, bucket)
  }
}
