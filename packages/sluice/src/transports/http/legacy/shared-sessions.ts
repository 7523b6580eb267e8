/**
 * Legacy sessions that any process of a server may serve. Their state is in the store. The bus notifies the processes
 * that hold something of a session: a call, a question or a stream.
 *
 * A lost notification costs only a delay, because a process that waits for something also polls every few seconds.
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
  /** Settles when the messages of calls have been kept and sent. */
  flush(): Promise<void>
  /** Releases everything held here. The sessions stay for other processes. */
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

/**
 * Shares sessions between processes over a store and a bus, so that any process serves any session. The value of
 * "share".
 */
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
