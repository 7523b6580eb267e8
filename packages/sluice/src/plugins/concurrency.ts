/** The plugin `concurrency`: how many calls run at once. */

import type { SlotPlugin } from '../core/plugin.ts'
import type { ConcurrencyOptions } from '../layers/concurrency.ts'
import { concurrencyLayer } from '../layers/concurrency.ts'

/** Limits the calls that run at once, per tenant and tool. Without it one noisy tenant can take every slot. */
export const concurrency = (options: ConcurrencyOptions = {}): SlotPlugin<'concurrency'> => ({
  slot: 'concurrency',
  create: ({ quotas, gauges }) => ({ layer: concurrencyLayer(options, quotas, gauges) }),
})
