/** The entry `sluice/tracing`: the plugin `tracing`, apart from the others because it needs OpenTelemetry's API. */

import type { SlotPlugin } from '../core/plugin.ts'
import type { TracingOptions } from '../observe/trace-layer.ts'
import { traceLayer } from '../observe/trace-layer.ts'

export type { TracingOptions } from '../observe/trace-layer.ts'

/** Makes a span per message by OpenTelemetry’s conventions for MCP, below the caller’s own span if it names one. */
export const tracing = (options: TracingOptions = {}): SlotPlugin<'tracing'> => ({
  slot: 'tracing',
  create: ({ clock }) => ({ layer: traceLayer(options, clock) }),
})
