/**
 * List answers, prepared ahead: a page per revision and visible set is text before the second caller requests it.
 *
 * A cursor contains its own position (the last name on the previous page). So any process can serve the next page, and
 * a list that changed in between continues from there.
 */

import { Prepared } from '../core/answer.ts'
import type { Tenant } from '../core/call.ts'
import type { RpcError } from '../core/error.ts'
import { invalidParams } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import type { Features, RevisionName } from './revisions.ts'
import { revisions } from './revisions.ts'

export interface ListItem {
  readonly name: string
  readonly entry: Params
  readonly scopes: readonly string[]
  readonly listed: boolean
}

export interface ListOptions {
  /** The member of the result: `tools`, `prompts`, … */
  readonly member: string
  readonly items: readonly ListItem[]
  readonly pageSize: number
  readonly ttlMs: number
  /** `_meta` of every result of 2026-07-28. */
  readonly serverMeta: Params
  /** Whether other callers may see another list, so that no shared cache keeps it. */
  readonly isPrivate?: boolean
  project(entry: Params, features: Features): Params
}

/** The names that a tenant has; `undefined` if all tenants have the same. */
export type VisibleNames = Tenant['tools']

export interface List {
  page(revision: RevisionName, scopes: ReadonlySet<string>, cursor: unknown, only?: VisibleNames): Prepared
  /** Returns the items that a caller may know of. */
  visible(scopes: ReadonlySet<string>, only?: VisibleNames): readonly ListItem[]
}

/**
 * Maximum number of cached pages. Beyond it the oldest is dropped, so that a hostile mix of scopes cannot grow memory.
 */
const maxPages = 1000

export function createList({ member, items, pageSize, ttlMs, serverMeta, isPrivate, project }: ListOptions): List {
  // Clients would take an empty page for an empty list.
  if (!(pageSize >= 1)) throw new TypeError('"pageSize" must be at least 1')
  const varies = items.some((item) => item.scopes.length > 0 && !item.listed)
  const guarding = new Set(items.flatMap(({ scopes, listed }) => (listed ? [] : scopes)))
  const pages = new Map<string, Prepared>()
  const allowed = (scopes: ReadonlySet<string>): readonly ListItem[] =>
    varies ? items.filter((item) => item.listed || item.scopes.every((scope) => scopes.has(scope))) : items
  const visible = (scopes: ReadonlySet<string>, only: VisibleNames): readonly ListItem[] =>
    typeof only === 'object' ? allowed(scopes).filter(({ name }) => only.has(name)) : allowed(scopes)
  /** Returns a key of the scopes that affect visibility, so that callers share cached pages. */
  const setOf = (scopes: ReadonlySet<string>): string =>
    varies ? JSON.stringify([...guarding].filter((scope) => scopes.has(scope)).sort()) : ''
  /** Caches a key per set of tools, so that tenants with the same tools share cached pages. */
  const shares = new WeakMap<ReadonlySet<string>, string>()
  function shareOf(only: VisibleNames): string {
    if (typeof only !== 'object') return only ?? ''
    const known = shares.get(only)
    if (known !== undefined) return known
    const share = items.map(({ name }) => Number(only.has(name))).join('')
    shares.set(only, share)
    return share
  }

  function make(revision: RevisionName, scopes: ReadonlySet<string>, cursor: unknown, only: VisibleNames): Prepared {
    const features = revisions[revision]
    const seen = visible(scopes, only)
    const from = cursor === undefined ? 0 : indexAfter(seen, member, cursor)
    const shown = seen.slice(from, from + pageSize)
    const last = shown.at(-1)
    const more = last && from + pageSize < seen.length ? { nextCursor: toCursor(member, last.name) } : {}
    const result = { [member]: shown.map(({ entry }) => project(entry, features)), ...more }
    if (features.era === 'legacy') return new Prepared(JSON.stringify(result), shown.length)
    // Also for a tenant that has all tools, because another tenant may get another list.
    const differs = isPrivate || varies || only !== undefined
    return new Prepared(JSON.stringify({ ...result, ...modernFields(differs, ttlMs, serverMeta) }), shown.length)
  }
  return {
    visible,
    page(revision, scopes, cursor, only) {
      const key = `${revision} ${setOf(scopes)} ${shareOf(only)} ${cursor === undefined ? '' : JSON.stringify(cursor)}`
      const ready = pages.get(key)
      if (ready) return ready
      const made = make(revision, scopes, cursor, only)
      if (pages.size >= maxPages) for (const oldest of pages.keys()) if (pages.delete(oldest)) break
      pages.set(key, made)
      return made
    },
  }
}

/** Returns the envelope fields of a list. `cacheScope` is `public` only if every caller sees the same list. */
export const modernFields = (varies: boolean, ttlMs: number, _meta: Params): Params => ({
  resultType: 'complete',
  ttlMs,
  cacheScope: varies ? 'private' : 'public',
  _meta,
})

export const toCursor = (list: string, position: string): string =>
  btoa(encodeURIComponent(JSON.stringify([list, position])))

/** Returns the position of a cursor. Refuses a cursor that is malformed or belongs to another list. */
export function fromCursor(list: string, cursor: unknown): string {
  try {
    const [of, position]: unknown[] = JSON.parse(decodeURIComponent(atob(String(cursor))))
    // It must match to the letter, because pages are cached by cursor and `atob` skips any amount of white space.
    if (of === list && typeof position === 'string' && toCursor(list, position) === cursor) return position
  } catch {
    // Malformed; refused below.
  }
  throw unknownCursor()
}

function indexAfter(items: readonly ListItem[], list: string, cursor: unknown): number {
  const name = fromCursor(list, cursor)
  const index = items.findIndex((item) => item.name === name)
  if (index === -1) throw unknownCursor()
  return index + 1
}

const unknownCursor = (): RpcError => invalidParams('unknown cursor; list again from the start')
