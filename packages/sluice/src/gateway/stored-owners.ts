/**
 * The owners of names and URIs on the endpoint for all, kept in the store. Otherwise, after a restart, the upstream that
 * is listed first could take over a name of another one.
 */

import { isObject, parseJson } from '../core/json.ts'
import type { Logger } from '../core/log.ts'
import type { Mutable } from '../core/mutable.ts'
import type { Store } from '../core/store.ts'
import type { Owners } from './table.ts'

export interface StoredOwners {
  readonly current: Owners
  change(owners: Owners): void
  /** Reads the owners of an earlier run. Without the store there are none. */
  load(): Promise<void>
}

const key = ['owners']

export function createStoredOwners(store: Store, logger: Logger): StoredOwners {
  let stored = ''
  const owners: Mutable<StoredOwners> = {
    current: new Map(),
    change(next) {
      owners.current = next
      const text = JSON.stringify(Object.fromEntries(next))
      if (text === stored) return
      stored = text
      store.set(key, text).catch((thrown: unknown) => {
        logger.warn({ event: 'ownersNotStored', message: thrown instanceof Error ? thrown.message : '' })
      })
    },
    async load() {
      const text = await store.get(key).catch(() => undefined)
      if (text === undefined) return
      stored = text
      owners.current = parseOwners(text)
    },
  }
  return owners
}

function parseOwners(text: string): Owners {
  const value = parseJson(text)
  const entries = Object.entries(isObject(value) ? value : {})
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}
