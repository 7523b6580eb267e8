/** `resources/list` where templates can list what they stand for: first what is fixed, ready made, then theirs. */

import type { Answer } from '../core/answer.ts'
import { Prepared } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import type { Params } from '../core/json.ts'
import type { List } from './lists.ts'
import { fromCursor, modernFields, toCursor } from './lists.ts'
import { measure } from './outgoing.ts'
import { projectEntry } from './project.ts'
import type { Resource } from './resources.ts'
import { featuresOf } from './revisions.ts'
import { workOf } from './work.ts'

export function createResourceList(
  fixed: List,
  templates: readonly Resource[],
  { ttlMs, serverMeta }: { readonly ttlMs: number; readonly serverMeta: Params },
): (call: Call) => Promise<Answer> {
  const sources = templates.filter(({ list }) => list)
  const mayList = ({ policy }: Resource, { caller }: Call): boolean =>
    policy.listed || policy.scopes.every((scope) => caller.scopes.has(scope))
  /** A place among the templates: which one, and its own cursor. */
  const placeAt = (name: string, cursor?: string): string => toCursor('listed', JSON.stringify([name, cursor ?? null]))

  return async function listResources(call) {
    const features = featuresOf(call.revision)
    const { cursor } = call.params
    const open = sources.filter((source) => mayList(source, call))
    const [first] = open
    if (!first) return fixed.page(features.name, call.caller.scopes, cursor)
    let source: Resource | undefined
    let own: string | null = null
    if (cursor !== undefined && !isFixed(cursor)) {
      const place = parsePlace(fromCursor('listed', cursor))
      source = open.find((candidate) => candidate.name === place?.[0])
      own = place?.[1] ?? null
      if (!source) fromCursor('listed', '')
    }
    if (!source) {
      const page = JSON.parse(fixed.page(features.name, call.caller.scopes, cursor).json) as Params
      if (page['nextCursor'] !== undefined) return seal(page)
      if (!isEmpty(page['resources'])) return seal({ ...page, nextCursor: placeAt(first.name) })
      // Many clients read one page: an empty first one would look like an empty list.
      source = first
    }
    const listing = await source.list?.(own === null ? {} : { cursor: own }, workOf(call, {}))
    for (const { uri, name } of listing?.resources ?? [])
      if (typeof uri !== 'string' || typeof name !== 'string') throw new TypeError('each entry needs a uri and a name')
    measure(listing, call)
    const following = open[open.indexOf(source) + 1]
    const nextCursor =
      listing?.next !== undefined ? placeAt(source.name, listing.next) : following && placeAt(following.name)
    return seal({
      resources: (listing?.resources ?? []).map((entry) => projectEntry({ ...entry }, features)),
      ...(nextCursor !== undefined && { nextCursor }),
      ...(features.era === 'modern' && modernFields(true, ttlMs, serverMeta)),
    })
  }
  /** All pages of one list say the same scope, and what templates list may depend on the caller. */
  function seal(result: Params): Prepared {
    return new Prepared(JSON.stringify('cacheScope' in result ? { ...result, cacheScope: 'private' } : result))
  }
}

/** Cursors are not sealed, so what comes back may be anybody's. */
function parsePlace(text: string): readonly [name: string, cursor: string | null] | undefined {
  try {
    const [name, cursor]: unknown[] = JSON.parse(text)
    return typeof name === 'string' && (cursor === null || typeof cursor === 'string') ? [name, cursor] : undefined
  } catch {
    return undefined
  }
}

const isEmpty = (list: unknown): boolean => Array.isArray(list) && list.length === 0

const isFixed = (cursor: unknown): boolean => {
  try {
    fromCursor('resources', cursor)
    return true
  } catch {
    return false
  }
}
