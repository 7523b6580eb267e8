/** What tasks and parked calls share: their records in the store, and those of them that this process runs. */

import type { Services } from '../core/plugin.ts'
import type { ProcessLease } from '../core/process-lease.ts'
import { createProcessLease } from '../core/process-lease.ts'
import type { Endings } from './endings.ts'
import { createEndings } from './endings.ts'
import type { LocalRuns, RunCaps } from './local-runs.ts'
import { createLocalRuns } from './local-runs.ts'
import type { RunningCallStore } from './running-call-store.ts'
import { createRunningCallStore } from './running-call-store.ts'

export interface RunningCallDeps {
  readonly calls: RunningCallStore
  readonly runs: LocalRuns
  readonly lease: ProcessLease
  readonly endings: Endings
}

interface RunningCallsOptions {
  /** What the calls are called, in the plural: `tasks`. */
  readonly noun: string
  /** The first part of their keys in the server's part of the store: `task`. */
  readonly area: string
  readonly caps: RunCaps
}

export function createRunningCalls(
  { name, store, serverStore, bus, clock, quotas }: Services,
  { noun, area, caps }: RunningCallsOptions,
): RunningCallDeps & { close(): Promise<void> } {
  const runs = createLocalRuns({ name, noun, bus, clock, caps, inProcess: store.inProcess === true })
  const lease = createProcessLease(serverStore, clock)
  const endings = createEndings(clock)
  quotas.push(runs.quota)
  return {
    calls: createRunningCallStore(serverStore, clock, area),
    ...{ runs, lease, endings },
    async close() {
      await endings.close()
      runs.close()
      await lease.close()
    },
  }
}

/** Occupies a place and a lease for a call that this process runs. Resolves with a function that frees both. */
export async function holdPlace(
  { runs, lease }: RunningCallDeps,
  tenant: string,
  subject: string,
): Promise<() => void> {
  const free = runs.reserve(tenant, subject)
  try {
    const release = await lease.hold()
    return () => {
      free()
      release()
    }
  } catch (thrown) {
    free()
    throw thrown
  }
}

/** Throws if a time or a cap is not an integer of at least 1. */
export function assertAtLeastOne(plugin: string, options: { readonly [option: string]: number }): void {
  for (const [option, value] of Object.entries(options))
    if (!Number.isInteger(value) || value < 1)
      throw new TypeError(`${plugin}: "${option}" must be an integer of at least 1`)
}
