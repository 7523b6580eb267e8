/**
 * The events of a call's stream in the store, so that a client of a legacy session can resume it on another process.
 *
 * Only the process that runs the call writes; any process may read. The head record names the writer. When that process
 * has crashed, a reader ends the stream with an error instead of waiting for ever.
 */

import { RpcError, toWire } from '../../../core/error.ts'
import type { Id } from '../../../core/json.ts'
import type { Key, Store } from '../../../core/store.ts'
import { pagesOf } from '../../../core/store.ts'
import { errorText } from '../../../protocol/encode.ts'
import type { EventWriter } from '../events.ts'
import { toEvent } from '../events.ts'
import type { StreamLog } from './replay-stream.ts'
import { resumeMs as keepMs } from './replay-stream.ts'

const pageSize = 100
/** Sorts after every number. */
const endMarker = 'end'
/** The head record has the key of the stream itself, without a further part. */
const headMarker = ''

export interface StreamLogOptions {
  readonly store: Store
  /** The key of the stream's head record, with the events below. */
  readonly at: Key
  readonly self: string
  /** The request that the stream answers. `undefined` if it is a batch. */
  readonly call: Id | undefined
  /** Notifies the processes that may wait for the last write. Never rejects. */
  notify(): Promise<void>
  onFailure(thrown: unknown): void
}

export function createStreamLog(options: StreamLogOptions): StreamLog & {
  /** Writes what could not be written. Rejects if it still cannot be. */
  retry(): Promise<void>
} {
  const { store, at, self, call, notify, onFailure } = options
  /** What could not be written, in order, with the part of its key. Later writes wait behind it. */
  const unwritten = new Map<string, string>()
  const write = (part: string, value: string): Promise<void> =>
    store.set(part === headMarker ? at : [...at, part], value, keepMs)
  async function keep(part: string, value: string): Promise<void> {
    if (unwritten.size > 0) unwritten.set(part, value)
    else
      await write(part, value).catch((thrown) => {
        unwritten.set(part, value)
        throw thrown
      })
  }
  // The stream itself continues. It cannot be resumed on another process until `retry` has written the rest.
  const reportFailure = (thrown: unknown): void => onFailure(thrown)
  let written: Promise<unknown> = keep(headMarker, JSON.stringify({ by: self, call })).catch(reportFailure)
  /** Runs steps one after the other, because a reader must never see an event before the one that precedes it. */
  const then = (step: () => unknown): void => {
    written = written.then(step).catch(reportFailure)
  }
  const sendOrNotify = (send: () => boolean): void => then(() => (send() ? undefined : notify()))
  return {
    write(number, data, send) {
      then(() => keep(toKeyPart(number), data))
      sendOrNotify(send)
    },
    forget(number) {
      then(() => unwritten.delete(toKeyPart(number)) || store.delete([...at, toKeyPart(number)]))
    },
    close(send) {
      then(() => keep(endMarker, ''))
      sendOrNotify(send)
    },
    afterWrites: then,
    deleteAll() {
      then(() => {
        unwritten.clear()
        return deleteTree(store, at)
      })
    },
    async retry() {
      const retried = written.then(async () => {
        for (const [part, value] of unwritten) {
          await write(part, value)
          unwritten.delete(part)
        }
        await notify()
      })
      written = retried.catch(() => {})
      await retried
    },
  }
}

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
  /** Sends the events written since the last read. Ends the stream if `hasCrashed` says so of its writer. */
  read(hasCrashed?: (writer: string) => Promise<boolean>): Promise<void>
  readonly closed: boolean
  close(): void
}

/**
 * Reads the stream that another process writes, one read at a time. `undefined`, without a call of `open`, if it does
 * not exist.
 */
export async function openStreamReader(
  store: Store,
  at: Key,
  after: number,
  open: () => EventWriter,
): Promise<StreamReader | undefined> {
  const head = await store.get(at)
  if (head === undefined) return undefined
  const { by, call }: { readonly by: string; readonly call?: Id } = JSON.parse(head)
  const writer = open()
  const stream = at.at(-1) ?? ''
  let last = after
  let closed = false

  const close = (): void => {
    closed = true
    writer.close()
  }
  async function readOn(): Promise<void> {
    if (closed || writer.closed) return
    for await (const entries of pagesOf(store, at, pageSize, [...at, toKeyPart(last)])) {
      for (const { key, value } of entries) {
        const part = key.at(-1) ?? ''
        if (part === endMarker) return close()
        last = Number(part)
        writer.write(toEvent(value, `${stream}.${last}`))
      }
      if (closed || writer.closed) return
    }
  }
  /**
   * Ends the stream in place of a crashed writer. The first process to notice writes it, so that all readers see the
   * same end.
   */
  async function endForWriter(): Promise<void> {
    const problem = 'The process that ran this call has ended: whether the call had its effect is not known'
    const text = errorText(call, toWire(new RpcError('internalError', problem), 'legacy', 'lost'))
    if (await store.swap([...at, toKeyPart(last + 1)], undefined, text, keepMs))
      await store.set([...at, endMarker], '', keepMs)
    await readOn()
  }
  return {
    async read(hasCrashed) {
      await readOn()
      if (!closed && !writer.closed && hasCrashed && (await hasCrashed(by))) await endForWriter()
    },
    close,
    get closed() {
      return closed || writer.closed
    },
  }
}
