/** Results that their server said may be kept: `ttlMs` of 2026-07-28, dropped early when the server says they changed. */

import type { Clock } from '../core/clock.ts'
import { monotonicNow } from '../core/clock.ts'
import type { Params } from '../core/json.ts'

/** The methods whose results carry cache hints. */
const cacheable = new Set([
  ...['server/discover', 'tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'resources/read'],
  ...['skills/list', 'skills/get'],
])
const staleBy: { readonly [notification: string]: readonly string[] } = {
  'notifications/tools/list_changed': ['tools/list'],
  'notifications/prompts/list_changed': ['prompts/list'],
  'notifications/resources/list_changed': ['resources/list', 'resources/templates/list'],
  'notifications/resources/updated': ['resources/read'],
}
const maxEntries = 1000
const maxTtlMs = 24 * 60 * 60 * 1000

export interface ResultCache {
  get(method: string, params: Params): Params | undefined
  /** Grows when something changed. A result that was asked for before may be the old one. */
  readonly changes: number
  /** Keeps a result, unless something changed since it was asked for. */
  set(method: string, params: Params, result: Params, changesBefore: number): void
  notified(notification: string): void
  clear(): void
}

export function createResultCache(clock: Clock): ResultCache {
  const entries = new Map<string, { readonly result: Params; readonly until: number }>()
  let changes = 0
  const keyOf = (method: string, params: Params): string => `${method} ${JSON.stringify(params)}`
  return {
    get(method, params) {
      const key = keyOf(method, params)
      const entry = entries.get(key)
      if (!entry) return undefined
      if (entry.until > monotonicNow(clock)) return entry.result
      entries.delete(key)
      return undefined
    },
    get changes() {
      return changes
    },
    set(method, params, result, changesBefore) {
      const { ttlMs, resultType = 'complete' } = result
      if (changes !== changesBefore) return
      if (!cacheable.has(method) || resultType !== 'complete' || typeof ttlMs !== 'number' || !(ttlMs > 0)) return
      const [oldest] = entries.keys()
      if (entries.size >= maxEntries && oldest !== undefined) entries.delete(oldest)
      entries.set(keyOf(method, params), { result, until: monotonicNow(clock) + Math.min(ttlMs, maxTtlMs) })
    },
    notified(notification) {
      const methods = Object.hasOwn(staleBy, notification) ? staleBy[notification] : undefined
      if (!methods) return
      changes++
      for (const key of [...entries.keys()])
        if (methods.some((method) => key.startsWith(`${method} `))) entries.delete(key)
    },
    clear() {
      changes++
      entries.clear()
    },
  }
}
