/** The plugin `rateLimit`: how often each caller may call. */

import type { SlotPlugin } from '../core/plugin.ts'
import type { RateLimitOptions } from '../layers/rate-limit.ts'
import { rateLimitLayer } from '../layers/rate-limit.ts'
import { takeWithFallback } from '../layers/shared-bucket.ts'
import { memoryStore } from '../stores/memory.ts'

/**
 * Limits calls per tenant, caller and target, over all processes of this server that share the store. Without it calls
 * are not limited.
 */
export const rateLimit = (options: RateLimitOptions = {}): SlotPlugin<'rateLimit'> => ({
  slot: 'rateLimit',
  create({ name, store, clock, logger }) {
    const local = store.inProcess ? store : memoryStore(clock)
    return { layer: rateLimitLayer(options, name, takeWithFallback({ store, local, clock, logger })) }
  },
})
