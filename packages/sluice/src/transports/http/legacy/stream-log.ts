/**
 * The events of a call's stream in the store, so that a client of a legacy session can pick it up on another process.
 *
 * One process writes, the one that runs the call; any may follow. Its head says who writes: when that process is gone,
 * whoever follows ends the stream with an error instead of waiting for ever.
 */

import { RpcError, toWire } from '../../../core/error.ts'
import type { Id } from '../../../core/json.ts'
import type { Key, Store } from '../../../core/store.ts'
import { errorText } from '../../../protocol/encode.ts'
import type { EventWriter } from '../events.ts'
import { toEvent } from '../events.ts'
import type { StreamLog } from './replay-stream.ts'
import { resumeMs as keepMs } from './replay-stream.ts'

const pageSize = 100
/** Sorts after every number. */
const endMarker = 'end'

export interface StreamLogOptions {
  readonly store: Store
  /** Where the stream is: its head, with the events below. */
  readonly at: Key
  /** This process. */
  readonly self: string
  /** What the stream will answer, unless it is a batch. */
  readonly call: Id | undefined
  /** Tells the processes that may be waiting for what was just written. Never rejects. */
  notify(): Promise<void>
  onFailure(thrown: unknown): void
}

export function createStreamLog({ store, at, self, call, notify, onFailure }: StreamLogOptions): StreamLog {
  let lost = false
  const complain = (thrown: unknown): void => {
    // The stream itself goes on; only coming back to it elsewhere is no longer possible.
    if (!lost) onFailure(thrown)
    lost = true
  }
  let written: Promise<unknown> = store.set(at, JSON.stringify({ by: self, call }), keepMs).catch(complain)
  /** One after the other: a reader must never see an event before the one that precedes it. */
  const then = (step: () => unknown): void => {
    written = written.then(step).catch(complain)
  }
  const tell = (say: () => boolean): void => then(() => (say() ? undefined : notify()))
  return {
    write(number, data, say) {
      then(() => store.set([...at, toKeyPart(number)], data, keepMs))
      tell(say)
    },
    forget: (number) => then(() => store.delete([...at, toKeyPart(number)])),
    close(say) {
      then(() => store.set([...at, endMarker], '', keepMs))
      tell(say)
    },
    afterWrites: then,
    deleteAll: () => then(() => deleteTree(store, at)),
  }
}

/** Everything at a key and below it. */
export async function deleteTree(store: Store, at: Key): Promise<void> {
  await store.delete(at)
  for (;;) {
    const entries = await store.list(at, { limit: pageSize })
    for (const { key } of entries) await store.delete(key)
    if (entries.length < pageSize) return
  }
}

const toKeyPart = (number: number): string => String(number).padStart(16, '0')

export interface StreamReader {
  /** Reads on. `isGone` asks whether the process that writes has crashed, and then ends the stream. */
  read(isGone?: (writer: string) => Promise<boolean>): Promise<void>
  readonly closed: boolean
  close(): void
}

/** Reads what another process writes; one reading at a time. `undefined` if there is no such stream: `open` is not called. */
export async function openStreamReader(
  store: Store,
  at: Key,
  after: number,
  open: () => EventWriter,
): Promise<StreamReader | undefined> {
  const head = await store.get(at)
  if (head === undefined) return undefined
  const { by, call }: { readonly by: string; readonly call?: Id } = JSON.parse(head)
  const sink = open()
  const stream = at.at(-1) ?? ''
  let last = after
  let closed = false

  const close = (): void => {
    closed = true
    sink.close()
  }
  async function readOn(): Promise<void> {
    while (!closed && !sink.closed) {
      const entries = await store.list(at, { limit: pageSize, after: [...at, toKeyPart(last)] })
      for (const { key, value } of entries) {
        const part = key.at(-1) ?? ''
        if (part === endMarker) return close()
        last = Number(part)
        sink.write(toEvent(value, `${stream}.${last}`))
      }
      if (entries.length < pageSize) return
    }
  }
  /** Written by the first process that notices, so that all readers see the same end. */
  async function endForWriter(): Promise<void> {
    const problem = 'The process that ran this call has ended: whether the call had its effect is not known'
    const text = errorText(call, toWire(new RpcError('internalError', problem), 'legacy', 'lost'))
    if (await store.swap([...at, toKeyPart(last + 1)], undefined, text, keepMs))
      await store.set([...at, endMarker], '', keepMs)
    await readOn()
  }
  return {
    async read(isGone) {
      await readOn()
      if (!closed && !sink.closed && isGone && (await isGone(by))) await endForWriter()
    },
    close,
    get closed() {
      return closed || sink.closed
    },
  }
}
