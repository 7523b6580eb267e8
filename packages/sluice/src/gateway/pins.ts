/**
 * The pins of one upstream, in the store: which hash of each definition an operator accepted or rejected. They survive
 * restarts, and all processes that share the store see the same. The texts of accepted definitions are kept for diffs.
 */

import { isObject, parseJson } from '../core/json.ts'
import type { Mutable } from '../core/mutable.ts'
import { createSerial } from '../core/serial.ts'
import type { Key, Store } from '../core/store.ts'
import type { PinnedContent, PinnedDefinition } from './pinned.ts'
import type { ReviewedDefinition } from './review.ts'

export interface Pin {
  readonly hash: string
  /** The operator, or `first use`. */
  readonly by: string
  readonly at: number
}

/** The decisions about one upstream, by the ids of definitions. */
export interface PinRecord {
  readonly accepted: { readonly [id: string]: Pin }
  readonly rejected: { readonly [id: string]: Pin }
}

export interface UpstreamPins {
  /** The last record that was read; `undefined` before that, and as long as no decision was made. */
  readonly record: PinRecord | undefined
  /** Whether the decisions are known. Before that nothing is served. */
  readonly isKnown: boolean
  /** Reads the store again. Returns whether the record changed. */
  read(): Promise<boolean>
  /** Accepts these definitions if no decision was ever made about this upstream, in any process. Returns whether it did. */
  acceptFirst(offered: Iterable<PinnedDefinition>, pin: Omit<Pin, 'hash'>): Promise<boolean>
  accept(definitions: readonly PinnedDefinition[], pin: Omit<Pin, 'hash'>): Promise<void>
  reject(definitions: readonly ReviewedDefinition[], pin: Omit<Pin, 'hash'>): Promise<void>
  /** Returns an accepted definition; `undefined` if its text is not kept any longer. */
  contentOf(hash: string): Promise<PinnedContent | undefined>
}

const empty: PinRecord = { accepted: {}, rejected: {} }

/**
 * `key` names the upstream and what it reaches, so that another server with its name has other pins. With `waits`, no
 * record means that nothing is accepted; otherwise the first listing is accepted.
 */
export function createUpstreamPins(store: Store, key: Key, waits: boolean): UpstreamPins {
  const recordKey: Key = ['pins', ...key]
  const textKey = (hash: string): Key => ['accepted', ...key, hash]
  // One step after the other, so that an older read does not replace a newer one.
  const serial = createSerial()
  let text: string | undefined
  let isRead = false

  async function readNow(): Promise<boolean> {
    const found = await store.get(recordKey)
    isRead = true
    // A record that disappeared was lost with the store. What this process knows of it is better than none.
    if (found === undefined || found === text) return false
    use(found)
    return true
  }

  function use(found: string): void {
    pins.record = parseRecord(found)
    text = found
  }

  /** Writes a change of the current record, and repeats if another process was faster. */
  async function change(to: (record: PinRecord) => PinRecord): Promise<void> {
    for (;;) {
      const found = await store.get(recordKey)
      const next = JSON.stringify(to(found === undefined ? (pins.record ?? empty) : parseRecord(found)))
      if (next !== found && !(await store.swap(recordKey, found, next))) continue
      isRead = true
      use(next)
      return
    }
  }

  const keep = async (definitions: Iterable<PinnedDefinition>): Promise<void> => {
    for (const { hash, content } of definitions) await store.set(textKey(hash), JSON.stringify(content))
  }
  /** The texts of definitions that are no longer accepted are not needed. One that stays costs some bytes. */
  const forget = async (hashes: readonly string[]): Promise<void> => {
    for (const hash of hashes) await store.delete(textKey(hash)).catch(() => {})
  }
  const hashesOf = (of: PinRecord | undefined): readonly string[] =>
    Object.values(of?.accepted ?? {}).map(({ hash }) => hash)

  async function changeAccepted(to: (record: PinRecord) => PinRecord): Promise<void> {
    const before = hashesOf(pins.record)
    await change(to)
    const now = new Set(hashesOf(pins.record))
    await forget(before.filter((hash) => !now.has(hash)))
  }

  const pins: Mutable<UpstreamPins> = {
    record: undefined,
    get isKnown() {
      return pins.record !== undefined || (isRead && waits)
    },
    read: () => serial(readNow),
    acceptFirst: (offered, pin) =>
      serial(async () => {
        await readNow()
        if (pins.record) return false
        const all = [...offered]
        await keep(all)
        const accepted = Object.fromEntries(all.map(({ id, hash }) => [id, { ...pin, hash }]))
        const first = JSON.stringify({ ...empty, accepted })
        const isFirst = await store.swap(recordKey, undefined, first)
        if (isFirst) use(first)
        else await readNow()
        return isFirst
      }),
    accept: (definitions, pin) =>
      serial(async () => {
        await keep(definitions)
        await changeAccepted(({ accepted, rejected }) => ({
          accepted: {
            ...accepted,
            ...Object.fromEntries(
              definitions
                .filter(({ id, hash }) => accepted[id]?.hash !== hash)
                .map(({ id, hash }) => [id, { ...pin, hash }]),
            ),
          },
          rejected: without(
            rejected,
            definitions.map(({ id }) => id),
          ),
        }))
      }),
    reject: (definitions, pin) =>
      serial(() =>
        changeAccepted(({ accepted, rejected }) => ({
          accepted: without(
            accepted,
            definitions.filter(({ id, hash }) => accepted[id]?.hash === hash).map(({ id }) => id),
          ),
          rejected: { ...rejected, ...Object.fromEntries(definitions.map(({ id, hash }) => [id, { ...pin, hash }])) },
        })),
      ),
    async contentOf(hash) {
      const kept = await store.get(textKey(hash))
      return kept === undefined ? undefined : (JSON.parse(kept) as PinnedContent)
    },
  }
  return pins
}

const without = <T>(of: { readonly [id: string]: T }, ids: readonly string[]): { readonly [id: string]: T } =>
  Object.fromEntries(Object.entries(of).filter(([id]) => !ids.includes(id)))

/** A record that cannot be read accepts nothing. */
function parseRecord(text: string): PinRecord {
  const value = parseJson(text)
  return isPinRecord(value) ? value : empty
}

const isPinRecord = (value: unknown): value is PinRecord =>
  isObject(value) && isObject(value['accepted']) && isObject(value['rejected'])
