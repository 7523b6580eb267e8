/**
 * One token from a bucket all processes share, or from a local one while the store is away: limits may loosen, never
 * vanish, and nobody waits for a store that does not answer.
 */

import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import type { Bucket, Key, Store } from '../core/store.ts'

/** 0: taken. Otherwise milliseconds until it could be. */
export type Take = (key: Key, bucket: Bucket) => Promise<number>

export interface TakeOptions {
  readonly store: Store
  /** In this process; with the same one as `store` there is nothing to fall back to, and nothing to wait for. */
  readonly local: Store
  readonly clock: Clock
  readonly logger: Logger
}

/** How long a call waits for the store. */
const withinMs = 250
/** How often a store that was away is tried again: not by every call, or its first moments back would be its worst. */
const retryMs = 1_000

export function createTake({ store, local, clock, logger }: TakeOptions): Take {
  if (store === local) return (key, bucket) => local.take(key, bucket)
  /** When it was last found to be away; `undefined` while it is there. */
  let triedAt: number | undefined

  /** Resolves with `undefined` if the store fails or takes too long. */
  function ask(key: Key, bucket: Bucket): Promise<number | undefined> {
    return new Promise((resolve) => {
      const callOff = clock.after(withinMs, () => resolve(undefined))
      const settle = (waitMs: number | undefined): void => {
        callOff()
        resolve(waitMs)
      }
      try {
        store.take(key, bucket).then(settle, () => settle(undefined))
      } catch {
        settle(undefined)
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
    // A clock that was set back must not put this off.
    if (since >= retryMs || since < 0) void tryAgain(key, bucket)
    return local.take(key, bucket)
  }
}
