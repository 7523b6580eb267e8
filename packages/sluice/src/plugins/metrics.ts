/** The plugin `metrics`: counters and histograms at `/metrics`. */

import type { SlotPlugin } from '../core/plugin.ts'
import type { MetricsOptions } from '../observe/metrics.ts'
import { createMetrics } from '../observe/metrics.ts'
import { metricsPage } from '../operate/metrics-page.ts'
import type { PageAccess } from '../operate/page-access.ts'

/** Serves counters and histograms at `/metrics`. */
export const metrics = ({
  readers,
  ...options
}: MetricsOptions & { readonly readers?: PageAccess } = {}): SlotPlugin<'metrics'> => ({
  slot: 'metrics',
  create({ gauges, name }) {
    const { observer, text } = createMetrics(options, gauges, name)
    return { observer, routes: metricsPage(text, readers) }
  },
})
