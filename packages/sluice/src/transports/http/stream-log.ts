/**
 * The events of a call's stream in the store, so that a client of a legacy session can pick it up on another process.
 *
 * One process writes, the one that runs the call; any may follow. Its head says who writes: when that process is gone,
 * whoever follows ends the stream with an error instead of waiting for ever.
 */

import { RpcError, toWire } from '../../core/error.ts'
import type { Id } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import type { Key, Store } from '../../core/store.ts'
import { errorText } from '../../protocol/encode.ts'
import type { Sink, StreamLog } from './events.ts'
import { toEvent } from './events.ts'

/** How long a client may take to come back. */
const keepMs = 10 * 60_000
const pageSize = 100
/** Sorts after every number. */
const end = 'end'

export interface LogOptions {
  readonly store: Store
  /** Where the stream is: its head, with the events below. */
  readonly at: Key
  /** This process. */
  readonly self: string
  /** What the stream will answer, unless it is a batch. */
  readonly call: Id | undefined
  /** Somebody else may be waiting for what was just written. */
  wake(): void
  failed(thrown: unknown): void
}

export function createLog({ store, at, self, call, wake, failed }: LogOptions): StreamLog {
  let lost = false
  const complain = (thrown: unknown): void => {
    // The stream itself goes on; only coming back to it elsewhere is no longer possible.
    if (!lost) failed(thrown)
    lost = true
  }
  let written: Promise<unknown> = store.set(at, JSON.stringify({ by: self, call }), keepMs).catch(complain)
  /** One after the other: a reader must never see an event before the one that precedes it. */
  const then = (step: () => unknown): void => {
    written = written.then(step).catch(complain)
  }
  const tell = (say: () => boolean): void =>
    then(() => {
      if (!say()) wake()
    })
  return {
    write(number, data, say) {
      then(() => store.set([...at, toPart(number)], data, keepMs))
      tell(say)
    },
    forget: (number) => then(() => store.delete([...at, toPart(number)])),
    finish(say) {
      then(() => store.set([...at, end], '', keepMs))
      tell(say)
    },
    after: then,
    drop: () => then(() => clear(store, at)),
  }
}

/** Everything at a key and below it. */
export async function clear(store: Store, at: Key): Promise<void> {
  await store.delete(at)
  for (;;) {
    const entries = await store.list(at, { limit: pageSize })
    for (const { key } of entries) await store.delete(key)
    if (entries.length < pageSize) return
  }
}

const toPart = (number: number): string => String(number).padStart(16, '0')

export interface Follower {
  /** Reads on. `writerGone`: asks whether the process that writes is still there, and ends the stream if not. */
  look(writerGone?: (writer: string) => Promise<boolean>): Promise<void>
  readonly over: boolean
  letGo(): void
}

/** `undefined` if there is no such stream, or no longer. `open` is called only if there is. */
export async function follow(store: Store, at: Key, after: number, open: () => Sink): Promise<Follower | undefined> {
  const head = await store.get(at)
  if (head === undefined) return undefined
  const sink = open()
  const stream = at.at(-1) ?? ''
  let last = after
  let over = false
  let reading: Promise<void> = Promise.resolve()

  const letGo = (): void => {
    over = true
    sink.end()
  }
  async function read(): Promise<void> {
    while (!over && !sink.closed) {
      const entries = await store.list(at, { limit: pageSize, after: [...at, toPart(last)] })
      for (const { key, value } of entries) {
        const part = key.at(-1) ?? ''
        if (part === end) return letGo()
        last = Number(part)
        sink.write(toEvent(value, `${stream}.${last}`))
      }
      if (entries.length < pageSize) return
    }
    over = true
  }
  /** Written by whoever is first, so that all who follow see the same end. */
  async function mourn(call: unknown): Promise<void> {
    const problem = 'The process that ran this call has ended: whether the call had its effect is not known'
    const id = typeof call === 'string' || typeof call === 'number' ? call : undefined
    const text = errorText(id, toWire(new RpcError('internalError', problem), 'legacy', 'lost'))
    if (await store.swap([...at, toPart(last + 1)], undefined, text, keepMs)) await store.set([...at, end], '', keepMs)
    await read()
  }
  return {
    look(writerGone) {
      reading = reading
        .then(async () => {
          await read()
          const said: unknown = JSON.parse(head)
          if (over || !writerGone || !isObject(said)) return
          if (await writerGone(String(said['by']))) await mourn(said['call'])
        })
        // A store that is away costs a delay: the next look reads on from the same place.
        .catch(() => {})
      return reading
    },
    letGo,
    get over() {
      return over || sink.closed
    },
  }
}
