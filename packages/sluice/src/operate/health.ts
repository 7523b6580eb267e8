/**
 * The health pages that an orchestrator probes: `/healthz` (alive) and `/readyz` (ready). HTTP mounts them beside the MCP
 * endpoint, before admission, so that a server under load does not look dead.
 */

import type { Clock } from '../core/clock.ts'
import type { Contribution, Page } from '../core/plugin.ts'
import type { Store } from '../core/store.ts'
import type { PageAccess } from './page-access.ts'
import { accessCheck, plainTextHeaders } from './page-access.ts'

export interface HealthOptions {
  readonly clock: Clock
  /** `/readyz` writes to it. */
  readonly store: Store
  /** Whether the server is shutting down and should get no new work. */
  isDraining(): boolean
  readonly readers?: PageAccess
  /** The time after which the store counts as unavailable. Most orchestrators give up on a slower probe. */
  readonly storeTimeoutMs?: number
}

const probeIntervalMs = 1_000
/** The written entry expires, so that a removed server leaves nothing behind. */
const probeEntryTtlMs = 60_000

const page = (status: number, body: string): Page => ({ status, headers: plainTextHeaders, body: `${body}\n` })

/** Creates the pages. For peers without access they do not exist. */
export function createHealth({
  clock,
  store,
  isDraining,
  readers,
  storeTimeoutMs = 1_000,
}: HealthOptions): NonNullable<Contribution['routes']> {
  const mayRead = accessCheck(readers)
  let last: { readonly at: number; readonly ready: Promise<boolean> } | undefined

  /**
   * Whether the store accepts a write. A read is not enough, because a full or read-only store still answers reads. Tries
   * at most once a second, so that probes cannot keep the store busy.
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
    if ((path !== '/healthz' && path !== '/readyz') || !mayRead(peer)) return undefined
    if (path === '/healthz') return page(200, 'alive')
    if (isDraining()) return page(503, 'draining')
    return (await storeWorks()) ? page(200, 'ready') : page(503, 'the store accepts no writes')
  }
}
