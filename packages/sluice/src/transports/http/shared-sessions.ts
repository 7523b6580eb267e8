/**
 * Legacy sessions that any process of a server may serve: what they are lies in the store, and the bus tells those who
 * have something of a session in hand (a call, a question, a stream) to look.
 *
 * A word that is lost costs a delay and nothing else: whoever waits for something also looks by itself every few seconds.
 */

import type { Clock } from '../../core/clock.ts'
import type { Shared } from '../../core/hub.ts'
import type { Logger } from '../../core/log.ts'
import { createPresence } from './presence.ts'
import type { Here, SharedSession } from './shared-session.ts'
import { createSharedSession } from './shared-session.ts'

export type { Here, SharedSession } from './shared-session.ts'

export interface SharedSessions {
  of(id: string, here: Here): SharedSession
  /** Settles when what calls had to say has been kept, and then said. */
  flush(): Promise<void>
  /** Lets go of everything; the sessions stay for other processes. */
  close(): Promise<void>
}

export interface SharedOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly idleMs: number
  readonly max: number
}

/** Sessions that processes share over a store and a bus, for the option `share`: any of them serves any session. */
export function sharedSessions(shared: Shared, options: SharedOptions): SharedSessions {
  const { clock, logger, idleMs, max } = options
  const { store } = shared
  const presence = createPresence(shared, clock, logger)
  return {
    of: (id, here) => createSharedSession(id, here, { store, clock, presence, idleMs, max }),
    flush: presence.flush,
    close: presence.close,
  }
}
