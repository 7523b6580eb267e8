/**
 * What all upstream processes of one gateway share: the guard, and the places that processes take. Places are bounded
 * per tenant and in all, so that one tenant cannot take the processes of the others.
 */

import type { Clock } from '../../core/clock.ts'
import { RpcError } from '../../core/error.ts'
import type { Logger } from '../../core/log.ts'
import { createGuard, type ProcessGuard } from './guard.ts'

/** How many processes a gateway runs. */
export interface ProcessLimits {
  /** Most processes in all. 64 by default. */
  readonly maxProcesses?: number
  /** Most processes of one tenant. 8 by default, and always below the number in all. */
  readonly maxPerTenant?: number
}

export interface ProcessHostOptions extends ProcessLimits {
  readonly clock: Clock
  readonly logger: Logger
}

export interface PlaceHolder {
  readonly tenant: string | undefined
  /** The time since which no call uses it. `undefined` while one does. */
  readonly idleSince: number | undefined
  /** Ends it, because its place is needed. */
  end(): Promise<void>
}

/** Shared by all process connections of a gateway. */
export interface ProcessHost {
  readonly clock: Clock
  readonly logger: Logger
  readonly guard: ProcessGuard
  /**
   * Takes a place for a process and returns the function that gives it back. If there is none, the process that is idle
   * for the longest time is ended. Refuses if all are busy.
   */
  takePlace(holder: PlaceHolder): Promise<() => void>
  /** Ends the guard. Close the connections first. */
  close(): Promise<void>
}

export function createProcessHost(options: ProcessHostOptions): ProcessHost {
  const { clock, logger, maxProcesses = 64 } = options
  const maxPerTenant = Math.min(options.maxPerTenant ?? 8, Math.max(1, maxProcesses - 1))
  const guard = createGuard(logger)
  const holders = new Set<PlaceHolder>()

  const of = (tenant: string | undefined): PlaceHolder[] => [...holders].filter((each) => each.tenant === tenant)

  /** A tenant gives up its own processes first, then those of tenants that have more. It never takes from one with less. */
  function victims(tenant: string | undefined): readonly PlaceHolder[] {
    const own = of(tenant)
    return [...holders].filter((each) => each.tenant === tenant || of(each.tenant).length > own.length + 1)
  }

  async function takePlace(holder: PlaceHolder): Promise<() => void> {
    const { tenant } = holder
    for (;;) {
      const own = tenant === undefined ? [] : of(tenant)
      if (own.length >= maxPerTenant) {
        if (!(await endIdlest(own))) throw full(`This tenant runs ${maxPerTenant} processes`)
      } else if (holders.size >= maxProcesses) {
        if (!(await endIdlest(victims(tenant)))) throw full(`The gateway runs ${maxProcesses} processes`)
      } else break
    }
    holders.add(holder)
    return () => holders.delete(holder)
  }

  return { clock, logger, guard, takePlace, close: () => guard.close() }
}

async function endIdlest(holders: readonly PlaceHolder[]): Promise<boolean> {
  let found: PlaceHolder | undefined
  for (const each of holders)
    if (each.idleSince !== undefined && each.idleSince < (found?.idleSince ?? Number.POSITIVE_INFINITY)) found = each
  await found?.end()
  return found !== undefined
}

const full = (problem: string): RpcError =>
  new RpcError('upstreamUnavailable', `${problem}, and all are in use. The call did not run: try again later`)
