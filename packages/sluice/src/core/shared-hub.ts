/**
 * The events of a server of many processes: a log in the store, which every process reads and hands to its listeners.
 *
 * Invariants:
 * - One queue. Every step that reads or writes the log runs alone; only a step moves `last`.
 * - Each `publish` is followed by an append that begins after it, however long the store is away. Equal events are one
 *   only while they wait: a listener that has heard of the first change would not look again for the second.
 * - Each listener gets each event after its start once and in order.
 *
 * The bus only says that there is something to read. A process that misses it reads on at its next poll.
 */

import type { ServerEvent } from './call.ts'
import type { Clock } from './clock.ts'
import type { HubListener, OwnedHub, SharedServices } from './hub.ts'
import { maxKeptEvents, parseEvent } from './hub.ts'
import { createSerial } from './serial.ts'
import type { Key } from './store.ts'

const eventLog: Key = ['events']
/** How long, so that a client that comes back finds what it missed. */
const eventTtlMs = 10 * 60_000
const pageSize = 100
/** How often a process looks for what the bus did not deliver, and tries again what failed. */
const pollMs = 5_000

/** The events of a server that runs in several processes: kept in the store, announced on the bus. */
export function sharedHub({ bus, store, name }: SharedServices, clock: Clock): OwnedHub {
  const channel = `events ${name}`
  const run = createSerial()
  const listeners = new Set<HubListener>()
  const closers = new Set<() => void>()
  /** Published, and not yet being appended. */
  const waiting = new Set<string>()
  /** Replays that failed. */
  const failed = new Set<() => void>()
  let joined = false
  let last = ''
  let published = 0
  let closed = false
  let isLooking = false
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
      if (listeners.size > 0) look()
    })
  }
  /** From here on nothing is missed: reading begins at a mark of our own in the log. */
  async function join(): Promise<void> {
    unsubscribe ??= bus.subscribe(channel, look)
    if (joined) return
    last = positionOf(await store.append(eventLog, '', eventTtlMs))
    joined = true
    // Heard by this process too, as soon as it hears the bus at all: what came before that is then read.
    bus.publish(channel, '').catch(() => {})
  }
  function look(): void {
    poll()
    if (isLooking) return
    isLooking = true
    run(async () => {
      isLooking = false
      await join()
      last = await walk(last, (event, position) => {
        last = position
        for (const listener of [...listeners]) listener(event, position)
      })
      // A store that is away costs a delay: the next look reads on from the same place.
    }).catch(() => {})
  }
  /** Returns the position that was read last. */
  async function walk(from: string, each: (event: ServerEvent, position: string) => void): Promise<string> {
    for (let after = from; ; ) {
      const entries = await store.list(eventLog, { limit: pageSize, after: [...eventLog, after] })
      for (const { key, value } of entries) {
        after = positionOf(key)
        const event = value === '' ? undefined : parseEvent(value)
        if (event) each(event, after)
      }
      if (entries.length < pageSize) return after
    }
  }
  function write(): void {
    if (isWriting) return
    isWriting = true
    run(async () => {
      try {
        for (const text of waiting) {
          // Before the append begins: an equal event from now on waits for an append of its own.
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
  /** The oldest go first; each process does its share of it. */
  async function trim(): Promise<void> {
    const entries = await store.list(eventLog, { limit: maxKeptEvents + 2 * pageSize })
    for (const { key } of entries.slice(0, -maxKeptEvents)) await store.delete(key)
  }

  return {
    ready: () => (joined ? undefined : run(join)),
    subscribe(listener) {
      listeners.add(listener)
      look()
      return () => listeners.delete(listener)
    },
    subscribeAfter(position, listener) {
      let from = position
      let over = false
      const replay = (): void => {
        run(async () => {
          await join()
          await walk(from, (event, at) => {
            // What is later comes with the next look, to all listeners.
            if (at > last) return
            from = at
            if (!over) listener(event, at)
          })
          if (!over) listeners.add(listener)
        }).then(look, () => {
          if (over) return
          failed.add(replay)
          poll()
        })
      }
      replay()
      return () => {
        over = true
        failed.delete(replay)
        listeners.delete(listener)
      }
    },
    onClose(then) {
      closers.add(then)
      return () => closers.delete(then)
    },
    publish(event) {
      waiting.add(JSON.stringify(event))
      // While the store is away. A client that comes back then reads the lists and resources anew.
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
      // What was published is written before this settles, if the store is there.
      await run(async () => {})
      closed = true
      unsubscribe?.()
      cancelTimer?.()
    },
  }
}

const positionOf = (key: Key): string => key.at(-1) ?? ''
