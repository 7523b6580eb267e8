/**
 * Legacy sessions that any process of a server may serve: what they are lies in the store, and the bus tells the
 * processes that have something of a session in hand (a call, a question, a stream) to look.
 *
 * A lost notification costs a delay: a process that waits for something also looks every few seconds.
 */

import type { Clock } from '../../../core/clock.ts'
import type { SharedServices } from '../../../core/hub.ts'
import type { Logger } from '../../../core/log.ts'
import { createSessionSlots } from './session-slots.ts'
import { createSessionSync } from './session-sync.ts'
import type { LocalSession, SharedSession } from './shared-session.ts'
import { createSharedSession, sessionKey } from './shared-session.ts'
import { deleteTree } from './stream-log.ts'

export type { LocalSession, SharedSession } from './shared-session.ts'

export interface SharedSessions {
  open(id: string, local: LocalSession): SharedSession
  /** Settles when what calls had to send has been kept and sent. */
  flush(): Promise<void>
  /** Lets go of everything; the sessions stay for other processes. */
  close(): Promise<void>
}

export interface SharedSessionsOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly idleMs: number
  readonly max: number
  /** Whether callers must authenticate. */
  readonly authenticates: boolean
}

/** Sessions that processes share over a store and a bus, for the option `share`: any of them serves any session. */
export function sharedSessions(shared: SharedServices, options: SharedSessionsOptions): SharedSessions {
  const { clock, logger, idleMs, max, authenticates } = options
  const { store } = shared
  const sync = createSessionSync(shared, clock, logger)
  async function evict(session: string): Promise<void> {
    await deleteTree(store, sessionKey(session))
    await sync.notify(session, 'record')
  }
  const slots = createSessionSlots({ store, idleMs, max, evict })
  return {
    open: (id, local) => createSharedSession(id, local, { store, clock, sync, slots, authenticates }),
    flush: sync.flush,
    close: sync.close,
  }
}
