/**
 * One process among those that share sessions: it hears what the others say on the bus, looks by itself every few seconds
 * in case a word was lost, and lets them see that it is alive while it writes a stream that they may have to wait for.
 */

import type { Clock } from '../../core/clock.ts'
import { RpcError } from '../../core/error.ts'
import type { Shared } from '../../core/hub.ts'
import type { Logger } from '../../core/log.ts'

/** What there is to look at. */
export type Word = 'record' | 'cancel' | 'answer' | 'stream' | 'taken' | 'mail'

/** A session that this process has something of in hand. */
export interface Watcher {
  look(word: Word | 'all', about: string): void
  /** Whether it should look by itself: it waits for something, or has not looked for long. */
  readonly due: boolean
}

export interface Presence {
  /** By which others know this process. */
  readonly self: string
  /** Tells the other processes; never rejects. */
  say(session: string, word: Word, about?: string): Promise<void>
  enter(session: string, watcher: Watcher): void
  leave(session: string, watcher: Watcher): void
  /** A stream is being written here, until the returned function is called. */
  writes(): () => void
  /** Whether a process has ended without a word. */
  isGone(writer: string): Promise<boolean>
  /** What `flush` waits for: it is said as soon as it is kept. */
  track(unsaid: Promise<unknown>): void
  complain(thrown: unknown): void
  /** Settles when what calls had to say has been kept, and then said. */
  flush(): Promise<void>
  close(): Promise<void>
}

const lookMs = 5_000
/** A process that has not said for this long that it is there has crashed. */
const leaseMs = 4 * lookMs
/** A store that is away must not keep the process. */
const flushMs = 2_000

export function createPresence({ store, bus, name }: Shared, clock: Clock, logger: Logger): Presence {
  const self = crypto.randomUUID()
  const channel = `sessions ${name}`
  const watchers = new Map<string, Watcher>()
  const unsaid = new Set<Promise<unknown>>()
  let writing = 0
  let leasedUntil = 0
  let leaveBus: (() => void) | undefined
  let callOff: (() => void) | undefined
  let closed = false

  const hear = (message: string): void => {
    const [from, session, word, about]: [string, string, Word, string] = JSON.parse(message)
    if (from !== self) watchers.get(session)?.look(word, about)
  }
  function watch(): void {
    leaveBus ??= bus.subscribe(channel, hear)
    callOff ??= clock.after(lookMs, () => {
      callOff = undefined
      if (writing > 0) lease().catch(() => {})
      for (const watcher of watchers.values()) if (watcher.due) watcher.look('all', '')
      if (watchers.size > 0 && !closed) watch()
    })
  }
  async function lease(): Promise<void> {
    await store.set(['process', self], '', leaseMs)
    leasedUntil = clock.now() + leaseMs / 2
  }
  const complain = (thrown: unknown): void =>
    logger.warn({ event: 'stream not kept', reason: thrown instanceof RpcError ? thrown.reason : 'internalError' })

  return {
    self,
    complain,
    say: (session, word, about = '') =>
      bus.publish(channel, JSON.stringify([self, session, word, about])).catch(() => {}),
    enter(session, watcher) {
      if (closed) return
      watchers.set(session, watcher)
      watch()
    },
    leave(session, watcher) {
      if (watchers.get(session) === watcher) watchers.delete(session)
    },
    writes() {
      writing++
      if (clock.now() >= leasedUntil) lease().catch(complain)
      return () => {
        writing--
      }
    },
    isGone: async (writer) => writer !== self && (await store.get(['process', writer])) === undefined,
    track(one) {
      unsaid.add(one)
      const said = (): void => {
        unsaid.delete(one)
      }
      one.then(said, said)
    },
    async flush() {
      if (unsaid.size === 0) return
      let leaveIt = (): void => {}
      const enough = new Promise<void>((resolve) => {
        leaveIt = clock.after(flushMs, resolve)
      })
      await Promise.race([Promise.all(unsaid), enough])
      leaveIt()
    },
    async close() {
      closed = true
      callOff?.()
      leaveBus?.()
      watchers.clear()
      await store.delete(['process', self]).catch(() => {})
    },
  }
}
