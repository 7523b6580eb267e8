/** The plugin `health`: `/healthz` and `/readyz`. */

import type { SlotPlugin } from '../core/plugin.ts'
import type { HealthOptions } from '../operate/health.ts'
import { createHealth } from '../operate/health.ts'

/** Serves `/healthz` and `/readyz`. */
export const health = (options: Pick<HealthOptions, 'readers' | 'storeTimeoutMs'> = {}): SlotPlugin<'health'> => ({
  slot: 'health',
  create: ({ clock, store, closing }) => ({
    routes: createHealth({ clock, store, isDraining: closing, ...options }),
  }),
})
