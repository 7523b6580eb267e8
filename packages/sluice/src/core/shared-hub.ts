/**
 * The events of a server of many processes: kept for a while in the store, heard by all, handed to whoever subscribed
 * here.
 *
 * The bus only says that there is something to read. Whoever was away, or missed the word, reads on from the last
 * position it knows.
 */

import type { ServerEvent } from './call.ts'
import type { Clock } from './clock.ts'
import type { Hear, OwnedHub, Shared } from './hub.ts'
import { maxKept, parseEvent } from './hub.ts'
import type { Key } from './store.ts'

const log: Key = ['events']
/** How long, so that a client that comes back finds what it missed. */
const keepMs = 10 * 60_000
const pageSize = 100
/** How often it is looked whether the bus forgot to say something. */
const lookMs = 5_000

/** The events of a server that runs in several processes: kept in the store, announced on the bus. */
export function sharedHub({ bus, store, name }: Shared, clock: Clock): OwnedHub {
  const channel = `events ${name}`
  const hearers = new Set<Hear>()
  const closers = new Set<() => void>()
  const publishing = new Map<string, Promise<void>>()
  let joined: Promise<void> | undefined
  let last = ''
  let published = 0
  let leave = (): void => {}
  let callOff = (): void => {}
  /** One after the other: two readings at once would hand out an event twice. */
  let reading: Promise<void> = Promise.resolve()
  let asked = false

  /** From here on nothing is missed: a mark of our own in the log is where reading begins. */
  function join(): Promise<void> {
    joined ??= (async () => {
      leave = bus.subscribe(channel, look)
      last = positionOf(await store.append(log, '', keepMs))
      // Heard by this process too, as soon as the bus hears at all: what came before that is then read.
      bus.publish(channel, '').catch(() => {})
      watch()
    })().catch((thrown: unknown) => {
      leave()
      joined = undefined
      throw thrown
    })
    return joined
  }
  const tryAgain = (): void => {
    callOff()
    callOff = clock.after(lookMs, () => {
      if (hearers.size > 0) join().catch(tryAgain)
    })
  }
  function watch(): void {
    callOff()
    callOff = clock.after(lookMs, () => {
      if (hearers.size > 0) look()
      watch()
    })
  }
  function look(): void {
    if (asked) return
    asked = true
    // A store that is away costs a delay, never a call: the next look reads on from the same place.
    reading = reading.then(readOn).catch(() => {})
  }
  async function readOn(): Promise<void> {
    asked = false
    await walk(last, (event, position) => {
      last = position
      if (event) for (const hear of [...hearers]) hear(event, position)
    })
  }
  async function walk(from: string, each: (event: ServerEvent | undefined, position: string) => void): Promise<void> {
    for (let after = from; ; ) {
      const entries = await store.list(log, { limit: pageSize, after: [...log, after] })
      for (const { key, value } of entries) {
        after = positionOf(key)
        each(value === '' ? undefined : parseEvent(value), after)
      }
      if (entries.length < pageSize) return
    }
  }
  async function write(text: string): Promise<void> {
    await store.append(log, text, keepMs)
    if (++published % pageSize === 0) await trim()
    await bus.publish(channel, '')
  }
  /** The oldest go first; each process does its share of it. */
  async function trim(): Promise<void> {
    const entries = await store.list(log, { limit: maxKept + 2 * pageSize })
    for (const { key } of entries.slice(0, -maxKept)) await store.delete(key)
  }

  return {
    ready: join,
    subscribe(hear) {
      hearers.add(hear)
      join().catch(tryAgain)
      return () => hearers.delete(hear)
    },
    subscribeAfter(position, hear) {
      let over = false
      const replay = async (): Promise<void> => {
        await join()
        const until = last
        await walk(position, (event, at) => {
          if (!over && event && at <= until) hear(event, at)
        })
        if (!over) hearers.add(hear)
      }
      reading = reading.then(replay).catch(() => {
        if (over) return
        hearers.add(hear)
        tryAgain()
      })
      return () => {
        over = true
        hearers.delete(hear)
      }
    },
    onClose(then) {
      closers.add(then)
      return () => closers.delete(then)
    },
    publish(event) {
      const text = JSON.stringify(event)
      // Not yet heard by anybody: whoever reads after it sees this change too.
      if (publishing.has(text)) return
      publishing.set(
        text,
        write(text)
          .catch(() => {})
          .finally(() => publishing.delete(text)),
      )
    },
    get size() {
      return hearers.size
    },
    finish() {
      for (const then of [...closers]) then()
    },
    async close() {
      await Promise.all(publishing.values())
      await reading
      leave()
      callOff()
    },
  }
}

const positionOf = (key: Key): string => key.at(-1) ?? ''
