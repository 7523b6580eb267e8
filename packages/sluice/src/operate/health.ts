/**
 * What an orchestrator asks: alive, ready. From a path to a response and nothing else; HTTP
 * mounts it beside the MCP endpoint, before the gate, so that a server under load is not taken for a dead one.
 */

import type { Clock } from '../core/clock.ts'
import type { Contribution, Page } from '../core/plugin.ts'
import type { Store } from '../core/store.ts'
import type { PageAccess } from './page-access.ts'
import { accessCheck, plainTextHeaders } from './page-access.ts'

export interface HealthOptions {
  readonly clock: Clock
  /** Written to by `/readyz`. */
  readonly store: Store
  /** Whether it is being shut down: then no new work should be sent here. */
  isDraining(): boolean
  readonly readers?: PageAccess
  /** How long the store may take to count as there. A probe that waits longer is given up by most orchestrators. */
  readonly storeTimeoutMs?: number
}

const probeIntervalMs = 1_000
/** Of the entry it writes, so that nothing stays behind of a server that is gone. */
const probeEntryTtlMs = 60_000

const page = (status: number, body: string): Page => ({ status, headers: plainTextHeaders, body: `${body}\n` })

/** To strangers these are not there. */
export function createHealth({
  clock,
  store,
  isDraining,
  readers,
  storeTimeoutMs = 1_000,
}: HealthOptions): NonNullable<Contribution['routes']> {
  const may = accessCheck(readers)
  let last: { readonly at: number; readonly ready: Promise<boolean> } | undefined

  /**
   * Whether it takes a write: a store that is full or read-only still reads, and what needs it would be refused. At most
   * one a second, however many ask: probes must not be a way to keep the store busy.
   */
  function storeWorks(): Promise<boolean> {
    const now = clock.now()
    if (last && now - last.at < probeIntervalMs && now >= last.at) return last.ready
    const ready = new Promise<boolean>((resolve) => {
      const cancelTimer = clock.after(storeTimeoutMs, () => resolve(false))
      store
        .set(['health'], '', probeEntryTtlMs)
        .then(
          () => resolve(true),
          () => resolve(false),
        )
        .finally(cancelTimer)
    })
    last = { at: now, ready }
    return ready
  }
  return async function health(path, peer) {
    if ((path !== '/healthz' && path !== '/readyz') || !may(peer)) return undefined
    if (path === '/healthz') return page(200, 'alive')
    if (isDraining()) return page(503, 'draining')
    return (await storeWorks()) ? page(200, 'ready') : page(503, 'the store takes no writes')
  }
}
