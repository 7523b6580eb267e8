/**
 * One legacy session that processes share, as this process holds it. The source of truth is the store, below the
 * session's id. It has the record, open questions, cancellations, the streams of calls, and mail for the one stream of
 * HTTP+SSE.
 *
 * Invariants:
 * - One queue. Every step that reads or writes shared state runs alone, in the order in which it was requested.
 * - The state of the connection is the record that the last step read or wrote, and only a step replaces it.
 * - A change is applied to the record that the store holds, by compare-and-swap, before it is acknowledged. So only a
 *   later change undoes a change that any process acknowledged.
 * - A topic stays due until reading it has succeeded. An unavailable store costs only a delay.
 */

import type { Clock } from '../../../core/clock.ts'
import type { Connection, RemoteConnection } from '../../../core/connection.ts'
import type { StateChange } from '../../../core/connection-state.ts'
import { applyChange } from '../../../core/connection-state.ts'
import { RpcError } from '../../../core/error.ts'
import type { Id, Params } from '../../../core/json.ts'
import { createSerial } from '../../../core/serial.ts'
import type { Key, Store } from '../../../core/store.ts'
import type { EventWriter } from '../events.ts'
import type { StreamLog } from './replay-stream.ts'
import type { SessionRecord } from './session-record.ts'
import { parseRecord, serializeRecord } from './session-record.ts'
import type { SessionSlots } from './session-slots.ts'
import type { SessionSync, SyncTarget, Topic } from './session-sync.ts'
import type { StreamReader } from './stream-log.ts'
import { createStreamLog, deleteTree, openStreamReader } from './stream-log.ts'

/** The shared side of one session. */
export interface SharedSession extends RemoteConnection {
  /** Sets the connection whose state this session replaces. */
  bind(connection: Connection): void
  /** Makes the session known to the other processes. Rejects with `overloaded` if there are too many. */
  register(peer: string): Promise<void>
  /** Reads the current record, for a message of the client. False if the session has ended. */
  refresh(): Promise<boolean>
  openLog(stream: string, call: Id | undefined): StreamLog
  /** Continues a stream that another process writes. False if there is none. */
  follow(stream: string, after: number, open: () => EventWriter): Promise<boolean>
  /** Sends to the process that holds the session's only stream (2024-11-05). */
  sendRemote(text: string): void
  /** Announces that this process holds the stream now, so that any other process releases its connection. */
  claimStream(stream: string): void
  /** Ends the session on all processes. */
  close(): Promise<void>
  /** Releases the session here. It lives on in other processes. */
  release(): void
}

/** The local side of a session: what this process does on notifications from the others. */
export interface LocalSession {
  /** Called when the session has ended. */
  onClosed(): void
  /** Whether the client listens here. Then it counts as active, and the session is kept. */
  isListening(): boolean
  /** Writes to the session's only stream. False if that is not here. */
  deliver(text: string): boolean
  /** Called when another process holds the stream's connection. */
  onStreamTaken(stream: string): void
}

export interface SharedSessionOptions {
  readonly store: Store
  readonly clock: Clock
  readonly sync: SessionSync
  readonly slots: SessionSlots
  /** Whether callers must authenticate. Then a session without an owner is a guest. */
  readonly authenticates: boolean
}

/** How often a session with only an open stream is polled. Rarely, because there may be thousands. */
const listenMs = 60_000
/** How long a cancellation waits for its call, and mail for its stream. */
const mailMs = 60_000
/** Longer than any question stays open. A question is deleted when it ends. */
const questionMs = 60 * 60_000
const pageSize = 100

export const sessionKey = (id: string): Key => ['session', id]

export function createSharedSession(
  id: string,
  local: LocalSession,
  { store, clock, sync, slots, authenticates }: SharedSessionOptions,
): SharedSession {
  const at = sessionKey(id)
  const run = createSerial()
  const questions = new Set<string>()
  const readers = new Map<string, StreamReader>()
  /** Reads that are queued and have not started. One read serves all requests made before it starts. */
  const queued = new Map<string, Promise<unknown>>()
  /** Reads that failed, for the next poll. */
  const failed = new Map<string, () => Promise<unknown>>()
  let connection: Connection | undefined
  let record: SessionRecord | undefined
  let renewAt = 0
  let nextPollAt = clock.now() + listenMs
  let reading: Promise<unknown> | undefined
  /** Mail up to this key was delivered, even if it could not be deleted. */
  let mailCursor: Key = [...at, 'mail']

  function coalesce<T>(topic: string, step: () => Promise<T>): Promise<T> {
    const waiting = queued.get(topic)
    if (waiting) return waiting as Promise<T>
    const done = run(() => {
      queued.delete(topic)
      return step()
    })
    queued.set(topic, done)
    return done
  }
  const attempt = (topic: string, step: () => Promise<unknown>): Promise<unknown> =>
    coalesce(topic, step).then(
      () => failed.delete(topic),
      () => failed.set(topic, step),
    )
  function adopt(now: SessionRecord): void {
    record = now
    if (connection) connection.state = now.state
  }
  /** Reads the record, changes it, and renews it if it is due. False if the session has ended. A step of the queue. */
  async function update(inUse: boolean, to: (now: SessionRecord) => SessionRecord = (now) => now): Promise<boolean> {
    for (;;) {
      const text = await store.get(at)
      if (text === undefined) return false
      const now = parseRecord(text)
      const next = to(now)
      // Not on every message, because each renewal costs two writes.
      const renews = inUse && clock.now() >= renewAt
      if (next === now && !renews) {
        adopt(now)
        return true
      }
      if (renews && !(await slots.renew(next.slot, id))) return false
      if (!(await store.swap(at, text, serializeRecord(next), slots.ttlMs(next.slot)))) continue
      renewAt = clock.now() + slots.ttlMs(next.slot) / 8
      adopt(next)
      if (next !== now) await sync.notify(id, 'record')
      return true
    }
  }
  async function change(change: StateChange): Promise<void> {
    if (connection && !record) {
      // The handshake is still running, so no other process can have the session.
      connection.state = applyChange(connection.state, change)
      return
    }
    const apply = (now: SessionRecord): SessionRecord => {
      const state = applyChange(now.state, change)
      return state === now.state ? now : { ...now, state }
    }
    const known = await run(() => (change.kind === 'own' ? claimOwnership(change.owner) : update(true, apply)))
    if (!known) throw new RpcError('sessionNotFound', 'Session not found: send initialize again')
  }
  /** Gives the session to its first owner, and moves it to one of the owner's slots. */
  async function claimOwnership(owner: string): Promise<boolean> {
    const before = record?.slot
    const slot = before?.table === 'guest' ? await slots.claim('member', owner, id) : undefined
    const known = await update(true, (now) =>
      now.state.owner === undefined ? { state: { ...now.state, owner }, slot: slot ?? now.slot } : now,
    )
    // Another process may have been first. Either way the session keeps one of the two slots, and the other is
    // released.
    if (slot && before) await slots.release(record?.slot === slot ? before : slot, id)
    return known
  }
  async function readRecord(): Promise<void> {
    if (!(await update(local.isListening()))) local.onClosed()
  }
  async function readCancellations(): Promise<void> {
    if (!connection || connection.inFlight.size === 0) return
    for (const { key } of await store.list([...at, 'cancel'], { limit: pageSize })) {
      const call = connection.inFlight.get(JSON.parse(key.at(-1) ?? 'null'))
      call?.stop(new RpcError('cancelled', 'Cancelled by the client'))
      if (call) await store.delete(key)
    }
  }
  async function deliverMail(): Promise<void> {
    for (const { key, value } of await store.list([...at, 'mail'], { limit: pageSize, after: mailCursor })) {
      if (!local.deliver(value)) return
      mailCursor = key
      await store.delete(key)
    }
  }
  async function readAnswer(question: string): Promise<void> {
    if (!questions.has(question)) return
    const response = await store.get([...at, 'question', question])
    if (response) await connection?.settle(question, JSON.parse(response) as Params)
  }
  async function readStream(stream: string, hasCrashed?: SessionSync['hasCrashed']): Promise<void> {
    const reader = readers.get(stream)
    await reader?.read(hasCrashed)
    if (reader?.closed && readers.get(stream) === reader) readers.delete(stream)
  }
  /** Reads the stream too, and ends it if the process that writes it has crashed. */
  const readStreamOrEnd = (stream: string): Promise<unknown> =>
    attempt(`writer ${stream}`, () => readStream(stream, sync.hasCrashed))
  const readTopic: { readonly [topic in Exclude<Topic, 'taken'>]: (about: string) => Promise<void> } = {
    record: readRecord,
    cancel: readCancellations,
    mail: deliverMail,
    answer: readAnswer,
    stream: readStream,
  }
  function releaseStream(stream: string): void {
    readers.get(stream)?.close()
    readers.delete(stream)
    local.onStreamTaken(stream)
  }
  const target: SyncTarget = {
    refresh(topic, about) {
      // At once. Behind other steps it could close a connection that came meanwhile.
      if (topic === 'taken') return releaseStream(about)
      const attempted = attempt(`${topic} ${about}`, () => readTopic[topic](about)).finally(() => {
        if (reading === attempted) reading = undefined
      })
      if (topic === 'record') reading = attempted
      attempted.catch(sync.logFailure)
    },
    poll() {
      for (const [topic, step] of [...failed]) attempt(topic, step).catch(sync.logFailure)
      const waits = questions.size > 0 || readers.size > 0 || (connection?.inFlight.size ?? 0) > 0
      if (!waits && !(local.isListening() && clock.now() >= nextPollAt)) return
      nextPollAt = clock.now() + listenMs
      for (const topic of ['record', 'cancel', 'mail'] as const) target.refresh(topic, '')
      for (const question of questions) target.refresh('answer', question)
      for (const stream of readers.keys()) readStreamOrEnd(stream).catch(sync.logFailure)
    },
  }
  /** Queues a step that no caller waits for. Only `flush` does. */
  function later(step: () => Promise<unknown>): void {
    sync.track(run(step).catch(sync.logFailure))
  }

  return {
    bind(opened) {
      connection = opened
    },
    change,
    async register(peer) {
      if (!connection) return
      const { state } = connection
      const isGuest = authenticates && state.owner === undefined
      const slot = await slots.claim(isGuest ? 'guest' : 'member', state.owner ?? peer, id)
      await store.set(at, serializeRecord({ state, slot }), slots.ttlMs(slot))
      adopt({ state, slot })
      renewAt = clock.now() + slots.ttlMs(slot) / 8
      sync.register(id, target)
    },
    async refresh() {
      if (!(await coalesce('read', () => update(true)))) return false
      sync.register(id, target)
      return true
    },
    get pendingSync() {
      return reading
    },
    registerQuestion(question) {
      questions.add(question)
      return run(() => store.set([...at, 'question', question], '', questionMs))
    },
    removeQuestion(question) {
      if (questions.delete(question)) later(() => store.delete([...at, 'question', question]))
    },
    async settle(question, response) {
      if (question.length > 64) return false
      // An open question is the empty text that the asking process wrote. Only that is replaced.
      const open = [...at, 'question', question]
      if (!(await store.swap(open, '', JSON.stringify(response), mailMs))) return false
      await sync.notify(id, 'answer', question)
      return true
    },
    cancel(call) {
      later(async () => {
        await store.set([...at, 'cancel', JSON.stringify(call)], '', mailMs)
        await sync.notify(id, 'cancel')
      })
    },
    openLog(stream, call) {
      const stopWriting = sync.startWriting()
      const flushed = Promise.withResolvers<void>()
      sync.track(flushed.promise)
      const topic = `log ${stream}`
      const log = createStreamLog({
        ...{ store, at: [...at, 'stream', stream], self: sync.self, call },
        notify: () => sync.notify(id, 'stream', stream),
        onFailure(thrown) {
          if (!failed.has(topic)) sync.logFailure(thrown)
          failed.set(topic, log.retry)
        },
      })
      return {
        ...log,
        close(send) {
          stopWriting()
          log.close(send)
          log.afterWrites(flushed.resolve)
        },
      }
    },
    async follow(stream, after, open) {
      const reader = await run(() => openStreamReader(store, [...at, 'stream', stream], after, open))
      if (!reader) return false
      readers.get(stream)?.close()
      readers.set(stream, reader)
      await sync.notify(id, 'taken', stream)
      await readStreamOrEnd(stream)
      return true
    },
    sendRemote(text) {
      later(async () => {
        await store.append([...at, 'mail'], text, mailMs)
        await sync.notify(id, 'mail')
      })
    },
    claimStream(stream) {
      sync.track(sync.notify(id, 'taken', stream))
    },
    async close() {
      await run(async () => {
        if (record) await slots.release(record.slot, id)
        await deleteTree(store, at)
        await sync.notify(id, 'record')
      })
    },
    release() {
      sync.unregister(id, target)
      for (const reader of readers.values()) reader.close()
      readers.clear()
    },
  }
}
