/**
 * One token from a bucket all processes share, or from a local one while the store is away: limits may loosen, never
 * vanish, and nobody waits for a store that does not answer.
 */

import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import type { Bucket, Key, Store } from '../core/store.ts'

/** 0: taken. Otherwise milliseconds until it could be. */
export type TakeToken = (key: Key, bucket: Bucket) => Promise<number>

export interface SharedBucketOptions {
  readonly store: Store
  /** In this process; with the same one as `store` there is nothing to fall back to, and nothing to wait for. */
  readonly local: Store
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * How long a call waits for the store: 250 ms at most, counted in ticks. A tool that blocks the event loop for that long
 * costs one of them; by the clock it would look as if the store had been silent, though its answer is there to be read.
 */
const tickMs = 50
const ticksToWait = 5
/** How often a store that was away is tried again: not by every call, or its first moments back would be its worst. */
const retryMs = 1_000

interface Waiting {
  /** How many ticks there had been. */
  readonly since: number
  settle(waitMs: number | undefined): void
}

export function takeWithFallback({ store, local, clock, logger }: SharedBucketOptions): TakeToken {
  if (store === local) return (key, bucket) => local.take(key, bucket)
  /** When it was last found to be away; `undefined` while it is there. */
  let triedAt: number | undefined

  const waiting = new Set<Waiting>()
  let ticks = 0
  let ticking = false
  /** One timer for all that wait: one for each would cost as much as a small call. */
  function tick(): void {
    ticks++
    for (const each of waiting) if (ticks - each.since >= ticksToWait) each.settle(undefined)
    ticking = waiting.size > 0
    if (ticking) clock.after(tickMs, tick)
  }

  /** Resolves with `undefined` if the store fails or takes too long. */
  function ask(key: Key, bucket: Bucket): Promise<number | undefined> {
    return new Promise((resolve) => {
      const each: Waiting = {
        since: ticks,
        settle(waitMs) {
          waiting.delete(each)
          resolve(waitMs)
        },
      }
      waiting.add(each)
      if (!ticking) {
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
    if (triedAt === undefined) logger.warn({ event: 'limits_local', message: 'The store is away: limits are local' })
    triedAt ??= clock.now()
    return local.take(key, bucket)
  }
  /** Nobody waits for it: the call that set it off is answered locally. */
  async function tryAgain(key: Key, bucket: Bucket): Promise<void> {
    triedAt = clock.now()
    if ((await ask(key, bucket)) === undefined) return
    triedAt = undefined
    logger.info({ event: 'limits_shared', message: 'The store is back: limits are shared again' })
  }

  return function take(key, bucket) {
    if (triedAt === undefined) return shared(key, bucket)
    const since = clock.now() - triedAt
    // A clock that was set back must not put this off; a logger that throws must not fail the call.
    if (since >= retryMs || since < 0) tryAgain(key, bucket).catch(() => {})
    return local.take(key, bucket)
  }
}
