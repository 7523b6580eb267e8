/**
 * One legacy session as all processes have it: its record, its open questions, cancellations, the streams of its calls and
 * its mail lie in the store below its id, and this is one process's hand on them.
 */

import type { Clock } from '../../core/clock.ts'
import type { Connection, Elsewhere } from '../../core/connection.ts'
import { RpcError } from '../../core/error.ts'
import type { Id, Params } from '../../core/json.ts'
import type { Key, Store } from '../../core/store.ts'
import type { Sink, StreamLog } from './events.ts'
import type { Presence, Watcher } from './presence.ts'
import { applyRecord, mergeRecord, ownerOf, toRecord, withOwner } from './session-record.ts'
import type { Follower } from './stream-log.ts'
import { clear, createLog, follow } from './stream-log.ts'

/** One session, as far as other processes know of it. */
export interface SharedSession extends Elsewhere {
  /** What it is on this process. */
  bind(connection: Connection): void
  /** Ready to be found by others. Throws `overloaded` when too many begin. */
  begin(): Promise<void>
  /** What it is now; false if it is over. */
  read(): Promise<boolean>
  /** Writes what a call changed; settles when all who have it in hand were told. */
  save(): Promise<void>
  log(stream: string, call: Id | undefined): StreamLog
  follow(stream: string, after: number, open: () => Sink): Promise<boolean>
  /** To the process that has the session's one stream, where a session has only one. */
  mail(text: string): void
  /** This process has the stream now: whoever else writes to a connection of it lets go. */
  take(stream: string): void
  /** Over for good, everywhere. */
  end(): Promise<void>
  /** This process has nothing of it in hand any more. */
  leave(): void
}

/** What the table of this process does when word comes. */
export interface Here {
  /** The session is over. */
  ended(): void
  /** Whether its client listens here: then it is not silent, and the session goes on. */
  readonly listening: boolean
  /** True if the session's one stream is here, and has it. */
  mailed(text: string): boolean
  /** Another process has the stream's connection now. */
  taken(stream: string): void
}

export interface SharedSessionOptions {
  readonly store: Store
  readonly clock: Clock
  readonly presence: Presence
  readonly idleMs: number
  readonly max: number
}

/** How often a session is looked at of which only a stream stands open here: there may be thousands. */
const listenMs = 60_000
/** A cancellation that finds nobody: the call was over, or had not begun. Mail that finds no stream, likewise. */
const cancelMs = 60_000

export function createSharedSession(
  id: string,
  here: Here,
  { store, clock, presence, idleMs, max }: SharedSessionOptions,
): SharedSession {
  const { say, isGone, complain } = presence
  const at: Key = ['session', id]
  const questions = new Set<string>()
  const followers = new Map<string, Follower>()
  let connection: Connection | undefined
  let text: string | undefined
  let renewAt = 0
  let reading: Promise<unknown> | undefined
  let delivering: Promise<void> = Promise.resolve()
  let mailing: Promise<unknown> = Promise.resolve()

  let lookAt = clock.now() + listenMs
  const watcher: Watcher = {
    // What fails is looked at again: at the next word, or by the timer.
    look(word, about) {
      lookAt = clock.now() + listenMs
      if (word === 'record' || word === 'all') reread().catch(() => {})
      if (word === 'cancel' || word === 'all') cancelled().catch(() => {})
      if (word === 'answer') answered(about).catch(() => {})
      if (word === 'stream')
        followers
          .get(about)
          ?.look()
          .catch(() => {})
      if (word === 'mail' || word === 'all') delivered().catch(() => {})
      if (word === 'taken') {
        followers.get(about)?.letGo()
        followers.delete(about)
        here.taken(about)
      }
      if (word === 'all') {
        for (const question of questions) answered(question).catch(() => {})
        for (const [stream, follower] of followers)
          if (follower.over) followers.delete(stream)
          else follower.look(isGone).catch(() => {})
      }
    },
    get due() {
      const waits = questions.size > 0 || followers.size > 0 || (connection?.inFlight.size ?? 0) > 0
      return waits || (here.listening && clock.now() >= lookAt)
    },
  }
  const adopt = (now: string): void => {
    if (now !== text && connection) applyRecord(now, connection)
    text = now
  }
  async function reread(): Promise<void> {
    const mine = read(here.listening).catch(() => true)
    reading = mine
    if (!(await mine)) here.ended()
    if (reading === mine) reading = undefined
  }
  async function read(inUse: boolean): Promise<boolean> {
    const now = await store.get(at)
    if (now === undefined) return false
    adopt(now)
    // Not on every message: a session in use would cost a write each time.
    if (inUse && clock.now() >= renewAt) {
      await store.swap(at, now, now, idleMs)
      renewAt = clock.now() + idleMs / 8
    }
    return true
  }
  /** Puts `change` onto what is there, however many others do the same. False if the session is over. */
  async function change(to: (now: string) => string): Promise<boolean> {
    for (;;) {
      const now = await store.get(at)
      if (now === undefined) return false
      const next = to(now)
      if (next === now || (await store.swap(at, now, next, idleMs))) {
        adopt(next)
        if (next !== now) await say(id, 'record')
        return true
      }
    }
  }
  async function cancelled(): Promise<void> {
    if (!connection || connection.inFlight.size === 0) return
    for (const { key } of await store.list([...at, 'cancel'], { limit: 100 })) {
      const call = connection.inFlight.get(JSON.parse(key.at(-1) ?? 'null'))
      call?.stop(new RpcError('cancelled', 'Cancelled by the client'))
      if (call) await store.delete(key)
    }
  }
  /** One after the other, and each once: a reading that is under way is waited for. */
  function delivered(): Promise<void> {
    delivering = delivering.then(async () => {
      for (const { key, value } of await store.list([...at, 'mail'], { limit: 100 })) {
        if (!here.mailed(value)) return
        await store.delete(key)
      }
    })
    return delivering
  }
  async function answered(question: string): Promise<void> {
    if (!questions.has(question)) return
    const response = await store.get([...at, 'question', question])
    if (response) await connection?.settle(question, JSON.parse(response) as Params)
  }

  return {
    bind(opened) {
      connection = opened
    },
    async begin() {
      if (!connection) return
      const mine = toRecord(connection)
      // Whoever opens sessions faster than they expire would fill the store.
      const waitMs = await store.take(['sessions'], { capacity: max, perSecond: (max * 1000) / idleMs })
      if (waitMs > 0)
        throw new RpcError('overloaded', 'Too many sessions are open: try again later', {
          data: { retryAfterMs: waitMs },
        })
      await store.set(at, mine, idleMs)
      text = mine
      renewAt = clock.now() + idleMs / 8
      presence.enter(id, watcher)
    },
    async read() {
      if (!(await read(true))) return false
      presence.enter(id, watcher)
      return true
    },
    get reading() {
      return reading
    },
    async save() {
      const before = text
      if (!connection || before === undefined) return
      const mine = toRecord(connection)
      if (mine !== before) await change((now) => mergeRecord(before, mine, now))
    },
    async own(owner) {
      if (text === undefined) {
        // Still shaking hands: nobody else can have it.
        if (connection) connection.owner = owner
        return true
      }
      const known = await change((now) => (ownerOf(now) === undefined ? withOwner(now, owner) : now))
      return known && text !== undefined && ownerOf(text) === owner
    },
    async asked(question) {
      questions.add(question)
      await store.set([...at, 'question', question], '', idleMs)
    },
    forget(question) {
      if (questions.delete(question)) store.delete([...at, 'question', question]).catch(() => {})
    },
    async settle(question, response) {
      if (question.length > 64) return false
      // Only where a question stands open: the empty text that the process that asked put there.
      if (!(await store.swap([...at, 'question', question], '', JSON.stringify(response), idleMs))) return false
      await say(id, 'answer', question)
      return true
    },
    cancel(call) {
      store
        .set([...at, 'cancel', JSON.stringify(call)], '', cancelMs)
        .then(() => say(id, 'cancel'))
        .catch(() => {})
    },
    log(stream, call) {
      const written = presence.writes()
      const wake = (): void => {
        say(id, 'stream', stream).catch(() => {})
      }
      let allSaid = (): void => {}
      presence.track(
        new Promise<void>((resolve) => {
          allSaid = resolve
        }),
      )
      const { self } = presence
      const log = createLog({ store, at: [...at, 'stream', stream], self, call, wake, failed: complain })
      return {
        ...log,
        finish(said) {
          written()
          log.finish(said)
          log.after(allSaid)
        },
      }
    },
    async follow(stream, after, open) {
      const follower = await follow(store, [...at, 'stream', stream], after, open)
      if (!follower) return false
      followers.get(stream)?.letGo()
      followers.set(stream, follower)
      await say(id, 'taken', stream)
      await follower.look(isGone)
      return true
    },
    mail(text) {
      mailing = mailing
        .then(() => store.append([...at, 'mail'], text, cancelMs))
        .then(() => say(id, 'mail'))
        .catch(complain)
      presence.track(mailing)
    },
    take: (stream) => {
      say(id, 'taken', stream).catch(() => {})
    },
    async end() {
      await clear(store, at)
      await say(id, 'record')
    },
    leave() {
      presence.leave(id, watcher)
      for (const follower of followers.values()) follower.letGo()
      followers.clear()
    },
  }
}
