/**
 * The events of a server with several processes. They are a log in the store, which every process reads for its
 * listeners.
 *
 * Invariants:
 * - One queue. Every step that reads or writes the log runs alone; only a step moves `last`.
 * - Each `publish` is followed by an append that begins after it, however long the store is unavailable. Equal events
 *   are merged only while they wait. Otherwise a listener that was notified of the first change would miss the second.
 * - Each listener gets each event after its start once and in order.
 *
 * The bus only signals that there is something to read. A process that misses the signal reads on at its next poll.
 */

import type { ServerEvent } from './call.ts'
import type { Clock } from './clock.ts'
import type { OwnedHub, SharedServices } from './hub.ts'
import { maxKeptEvents, parseEvent } from './hub.ts'
import { createHubListeners } from './hub-listeners.ts'
import { createSerial } from './serial.ts'
import type { Key } from './store.ts'
import { pagesOf } from './store.ts'

const eventLog: Key = ['events']
/** How long events are kept for clients that reconnect. */
const eventTtlMs = 10 * 60_000
const pageSize = 100
/** How often a process reads what the bus did not deliver, and retries what failed. */
const pollMs = 5_000

/**
 * Creates the hub of a server that runs in several processes. Events are kept in the store and announced on the bus.
 */
export function sharedHub({ bus, store, name }: SharedServices, clock: Clock): OwnedHub {
  const channel = `events ${name}`
  const run = createSerial()
  const listeners = createHubListeners()
  const closers = new Set<() => void>()
  /** Published events whose append has not started. */
  const waiting = new Set<string>()
  /** Replays that failed and will be retried. */
  const failed = new Set<() => void>()
  let joined = false
  let last = ''
  let published = 0
  let closed = false
  let isReading = false
  let isWriting = false
  let unsubscribe: (() => void) | undefined
  let cancelTimer: (() => void) | undefined

  function poll(): void {
    if (closed) return
    cancelTimer ??= clock.after(pollMs, () => {
      cancelTimer = undefined
      const retries = [...failed]
      failed.clear()
      for (const retry of retries) retry()
      if (waiting.size > 0) write()
      if (listeners.size > 0) read()
    })
  }
  /** Starts reading at a marker that this process appends, so that no later event is missed. */
  async function join(): Promise<void> {
    unsubscribe ??= bus.subscribe(channel, read)
    if (joined) return
    last = positionOf(await store.append(eventLog, '', eventTtlMs))
    joined = true
    // This process receives it too, once its subscription works. It then reads the events that came before.
    bus.publish(channel, '').catch(() => {})
  }
  function read(): void {
    poll()
    if (isReading) return
    isReading = true
    run(async () => {
      isReading = false
      await join()
      last = await readLog(last, (event, position) => {
        last = position
        listeners.deliver(event, position)
      })
      // An unavailable store costs a delay: the next read continues from the same position.
    }).catch(() => {})
  }
  /** Returns the position that was read last. */
  async function readLog(from: string, each: (event: ServerEvent, position: string) => void): Promise<string> {
    let after = from
    for await (const entries of pagesOf(store, eventLog, pageSize, [...eventLog, from]))
      for (const { key, value } of entries) {
        after = positionOf(key)
        const event = value === '' ? undefined : parseEvent(value)
        if (event) each(event, after)
      }
    return after
  }
  function write(): void {
    if (isWriting) return
    isWriting = true
    run(async () => {
      try {
        for (const text of waiting) {
          // Deleted before the append begins, so that an equal event from now on gets its own append.
          waiting.delete(text)
          await append(text)
        }
      } finally {
        isWriting = false
      }
      await bus.publish(channel, '')
    }).catch(poll)
  }
  async function append(text: string): Promise<void> {
    try {
      await store.append(eventLog, text, eventTtlMs)
    } catch (thrown) {
      waiting.add(text)
      throw thrown
    }
    if (++published % pageSize === 0) await trim()
  }
  /** Deletes the oldest events. Each process does its share. */
  async function trim(): Promise<void> {
    const entries = await store.list(eventLog, { limit: maxKeptEvents + 2 * pageSize })
    for (const { key } of entries.slice(0, -maxKeptEvents)) await store.delete(key)
  }

  return {
    ready: () => (joined ? undefined : run(join)),
    subscribe(listener, uris) {
      const remove = listeners.add(listener, uris)
      read()
      return remove
    },
    subscribeAfter(position, listener) {
      let from = position
      let ended = false
      let remove: (() => void) | undefined
      const replay = (): void => {
        run(async () => {
          await join()
          await readLog(from, (event, at) => {
            // Later events come with the next read, to all listeners.
            if (at > last) return
            from = at
            if (!ended) listener(event, at)
          })
          if (!ended) remove = listeners.add(listener)
        }).then(read, () => {
          if (ended) return
          failed.add(replay)
          poll()
        })
      }
      replay()
      return () => {
        ended = true
        failed.delete(replay)
        remove?.()
      }
    },
    onClose(then) {
      closers.add(then)
      return () => closers.delete(then)
    },
    publish(event) {
      waiting.add(JSON.stringify(event))
      // Drops the oldest while the store is unavailable. A client that reconnects then reads the lists and resources
      // again.
      for (const oldest of waiting) if (waiting.size > maxKeptEvents) waiting.delete(oldest)
      write()
    },
    get listenerCount() {
      return listeners.size
    },
    closeSubscriptions() {
      for (const then of [...closers]) then()
    },
    async close() {
      // Published events are written before this settles, if the store is available.
      await run(async () => {})
      closed = true
      unsubscribe?.()
      cancelTimer?.()
    },
  }
}

const positionOf = (key: Key): string => key.at(-1) ?? ''
