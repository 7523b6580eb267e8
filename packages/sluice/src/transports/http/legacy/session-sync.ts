/**
 * Keeps the processes that share sessions in step. A notification on the bus names the topic and the session to read
 * again. A poll every few seconds finds changes whose notification was lost. A lease shows that a process which writes
 * streams is alive.
 */

import type { Clock } from '../../../core/clock.ts'
import { reasonOf } from '../../../core/error.ts'
import type { SharedServices } from '../../../core/hub.ts'
import type { Logger } from '../../../core/log.ts'
import { withTimeout } from '../../../core/with-timeout.ts'

export type Topic = 'record' | 'cancel' | 'answer' | 'stream' | 'taken' | 'mail'

/** A session that this process holds. */
export interface SyncTarget {
  refresh(topic: Topic, about: string): void
  /** Reads everything the session waits for, in case a notification was lost. */
  poll(): void
}

export interface SessionSync {
  readonly self: string
  /**
   * Notifies the other processes. Never rejects, because a target that misses a notification finds out by its poll.
   * If several processes take a stream at the same time, the last one in the order of the bus keeps it.
   */
  notify(session: string, topic: Topic, about?: string): Promise<void>
  register(session: string, target: SyncTarget): void
  unregister(session: string, target: SyncTarget): void
  /** Marks this process as writing a stream, until the returned function is called. */
  startWriting(): () => void
  /** Whether the process has ended without closing its streams. */
  hasCrashed(writer: string): Promise<boolean>
  /** Makes `flush` wait for this promise. */
  track(unsent: Promise<unknown>): void
  logFailure(thrown: unknown): void
  /** Settles when the messages of calls have been kept and sent. */
  flush(): Promise<void>
  close(): Promise<void>
}

const pollMs = 5_000
/** A process that has not renewed its lease for this long has crashed. */
const leaseMs = 4 * pollMs
/** An unavailable store must not keep the process from ending. */
const flushMs = 2_000

export function createSessionSync({ store, bus, name }: SharedServices, clock: Clock, logger: Logger): SessionSync {
  const self = crypto.randomUUID()
  const channel = `sessions ${name}`
  const targets = new Map<string, SyncTarget>()
  const unsent = new Set<Promise<unknown>>()
  /** Streams that this process took, until the bus delivers its own notification. */
  const taking = new Map<string, { count: number; since: number }>()
  let writing = 0
  let leasedUntil = 0
  let unsubscribe: (() => void) | undefined
  let cancelTimer: (() => void) | undefined
  let closed = false

  const listener = (message: string): void => {
    const [from, session, topic, about]: [string, string, Topic, string] = JSON.parse(message)
    const stream = `${session} ${about}`
    if (from === self) {
      if (topic === 'taken') endTaking(stream)
      return
    }
    // It was published before ours, which is still to come. So the connection here is the newer one.
    if (topic === 'taken' && isTaking(stream)) return
    targets.get(session)?.refresh(topic, about)
  }
  function beginTaking(stream: string): void {
    taking.set(stream, { count: (taking.get(stream)?.count ?? 0) + 1, since: clock.now() })
  }
  function endTaking(stream: string): void {
    const own = taking.get(stream)
    if (own && --own.count === 0) taking.delete(stream)
  }
  /** A notification that does not come back soon was lost. */
  function isTaking(stream: string): boolean {
    const { since = Number.NEGATIVE_INFINITY } = taking.get(stream) ?? {}
    if (Math.abs(clock.now() - since) < pollMs) return true
    taking.delete(stream)
    return false
  }
  function poll(): void {
    unsubscribe ??= bus.subscribe(channel, listener)
    cancelTimer ??= clock.after(pollMs, () => {
      cancelTimer = undefined
      // The next poll tries again. A lease lasts four polls.
      if (writing > 0) lease().catch(() => {})
      for (const stream of taking.keys()) isTaking(stream)
      for (const target of targets.values()) target.poll()
      if (targets.size > 0 && !closed) poll()
    })
  }
  async function lease(): Promise<void> {
    await store.set(['process', self], '', leaseMs)
    leasedUntil = clock.now() + leaseMs / 2
  }
  const logFailure = (thrown: unknown): void => logger.warn({ event: 'stream not kept', reason: reasonOf(thrown) })

  return {
    self,
    logFailure,
    notify: async (session, topic, about = '') => {
      if (topic === 'taken') beginTaking(`${session} ${about}`)
      try {
        await bus.publish(channel, JSON.stringify([self, session, topic, about]))
      } catch {
        // The poll of the other process finds it.
        if (topic === 'taken') endTaking(`${session} ${about}`)
      }
    },
    register(session, target) {
      if (closed) return
      targets.set(session, target)
      poll()
    },
    unregister(session, target) {
      if (targets.get(session) === target) targets.delete(session)
    },
    startWriting() {
      writing++
      if (clock.now() >= leasedUntil) lease().catch(logFailure)
      return () => {
        writing--
      }
    },
    hasCrashed: async (writer) => writer !== self && (await store.get(['process', writer])) === undefined,
    track(one) {
      unsent.add(one)
      const sent = (): unknown => unsent.delete(one)
      one.then(sent, sent)
    },
    async flush() {
      if (unsent.size === 0) return
      await withTimeout(Promise.allSettled(unsent), flushMs, clock).catch(() => {})
    },
    async close() {
      closed = true
      cancelTimer?.()
      unsubscribe?.()
      targets.clear()
      // If the store fails, the lease expires by itself.
      await store.delete(['process', self]).catch(() => {})
    },
  }
}
