/** The plugin `park`: lets work ask while it runs, in every revision and through any process. */

import type { SlotPlugin } from '../core/plugin.ts'
import { createProcessLease } from '../core/process-lease.ts'
import { createSeal } from '../core/seal.ts'
import { parkLayer } from '../park/park-layer.ts'
import { createEndings } from '../running-calls/endings.ts'
import { createLocalRuns } from '../running-calls/local-runs.ts'
import { createRunningCallStore } from '../running-calls/running-call-store.ts'

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
  create({ name, store, serverStore, bus, clock, logger, newErrorId, secrets, gauges, quotas }) {
    const { parkMs = 600_000, totalMs = 3_600_000, perCaller = 4, perTenant = 50, perProcess = 1_000 } = options
    for (const [option, value] of Object.entries({ parkMs, totalMs, perCaller, perTenant, perProcess }))
      if (!Number.isInteger(value) || value < 1)
        throw new TypeError(`park: "${option}" must be an integer of at least 1`)
    const runs = createLocalRuns({
      ...{ name, noun: 'parked calls', bus, clock, caps: { perCaller, perTenant, perProcess } },
      inProcess: store.inProcess === true,
    })
    const lease = createProcessLease(serverStore, clock)
    const endings = createEndings(clock)
    gauges.push({
      ...{ name: 'sluice_parked', help: 'Calls of this process that wait for an answer.', type: 'gauge' },
      read: () => runs.size,
    })
    quotas.push(runs.quota)
    return {
      createLayer: ({ running }) =>
        parkLayer({
          ...{ calls: createRunningCallStore(serverStore, clock, 'parked'), runs, lease, serverStore, clock, logger },
          ...{ newErrorId, parkMs, totalMs, running, endings, local: new Map() },
          seal: createSeal(secrets, `parked ${name}`, clock),
        }),
      async close() {
        await endings.close()
        runs.close()
        await lease.close()
      },
    }
  },
})
