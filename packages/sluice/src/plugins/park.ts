/** The plugin `park`: lets work ask while it runs, in every revision and through any process. */

import type { SlotPlugin } from '../core/plugin.ts'
import { createSeal } from '../core/seal.ts'
import { parkLayer } from '../park/park-layer.ts'
import { assertAtLeastOne, createRunningCalls } from '../running-calls/running-calls.ts'

/** How long questions stay open, and how many calls may wait for answers. */
export interface ParkOptions {
  /** How long a question may stay open: 10 minutes by default. */
  readonly parkMs?: number
  /** How long a call may take in all, with its questions: an hour by default. */
  readonly totalMs?: number
  /** Parked calls of one caller in each process: 4 by default. */
  readonly perCaller?: number
  /** Parked calls of one tenant in each process: 50 by default. */
  readonly perTenant?: number
  /** Parked calls in each process: 1000 by default. */
  readonly perProcess?: number
}

/**
 * Lets tools with `asksWhileRunning` ask in the middle of their work. The call waits in the process that runs it, and the
 * answer may come through any process. Gateways need it for upstreams that ask during a call.
 */
export const park = (options: ParkOptions = {}): SlotPlugin<'park'> => ({
  slot: 'park',
  create(services) {
    const { name, serverStore, clock, logger, newErrorId, secrets, gauges } = services
    const { parkMs = 600_000, totalMs = 3_600_000, perCaller = 4, perTenant = 50, perProcess = 1_000 } = options
    const caps = { perCaller, perTenant, perProcess }
    assertAtLeastOne('park', { parkMs, totalMs, ...caps })
    const { close, ...parked } = createRunningCalls(services, { noun: 'parked calls', area: 'parked', caps })
    gauges.push({
      ...{ name: 'sluice_parked', help: 'Calls of this process that wait for an answer.', type: 'gauge' },
      read: () => parked.runs.size,
    })
    return {
      createLayer: ({ running }) =>
        parkLayer({
          ...parked,
          ...{ serverStore, clock, logger, newErrorId, parkMs, totalMs, running, local: new Map() },
          seal: createSeal(secrets, `parked ${name}`, clock),
        }),
      close,
    }
  },
})
