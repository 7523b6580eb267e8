/** The plugin `rateLimit`: how often each caller may call. */

import type { SlotPlugin } from '../core/plugin.ts'
import type { RateLimitOptions } from '../layers/rate-limit.ts'
import { rateLimitLayer } from '../layers/rate-limit.ts'
import { takeWithFallback } from '../layers/shared-bucket.ts'
import { memoryStore } from '../stores/memory.ts'

/** Limits calls per tenant, caller and target, over all processes that share the store. Without it there is no limit. */
export const rateLimit = (options: RateLimitOptions = {}): SlotPlugin<'rateLimit'> => ({
  slot: 'rateLimit',
  create({ store, clock, logger }) {
    const local = store.inProcess ? store : memoryStore(clock)
    return { layer: rateLimitLayer(options, takeWithFallback({ store, local, clock, logger })) }
  },
})
