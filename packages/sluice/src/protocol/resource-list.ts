/** `resources/list` where templates can list what they stand for: first what is fixed, ready made, then theirs. */

import type { Answer } from '../core/answer.ts'
import { Prepared } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import type { Params } from '../core/json.ts'
import { assertSendable } from './assert-sendable.ts'
import type { List } from './lists.ts'
import { fromCursor, modernFields, toCursor } from './lists.ts'
import { projectEntry } from './project.ts'
import type { Resource } from './resources.ts'
import { featuresOf } from './revisions.ts'
import { toolContextOf } from './tool-context.ts'

/** How often templates are asked for one page: one that gives nothing and always promises more must not hold a call. */
const maxListings = 100

export function createResourceList(
  fixed: List,
  templates: readonly Resource[],
  { ttlMs, serverMeta, pageSize }: { readonly ttlMs: number; readonly serverMeta: Params; readonly pageSize: number },
): (call: Call) => Promise<Answer> {
  const sources = templates.filter(({ list }) => list)
  const mayList = ({ policy }: Resource, { caller }: Call): boolean =>
    policy.listed || policy.scopes.every((scope) => caller.scopes.has(scope))

  return async function listResources(call) {
    const features = featuresOf(call.revision)
    const { cursor } = call.params
    const open = sources.filter((source) => mayList(source, call))
    const resources: Params[] = []
    let at = 0
    let own: string | null = null
    if (cursor === undefined || open.length === 0 || isFixed(cursor)) {
      const page = fixed.page(features.name, call.caller.scopes, cursor)
      const ready = JSON.parse(page.json) as Params
      if (open.length === 0) return page
      if (ready['nextCursor'] !== undefined) return seal(ready)
      if (Array.isArray(ready['resources'])) resources.push(...ready['resources'])
    } else {
      const [name, rest] = parseTemplateCursor(fromCursor('listed', cursor)) ?? []
      at = open.findIndex((source) => source.name === name)
      own = rest ?? null
      if (at === -1) fromCursor('listed', '')
    }
    // Many clients read one page, so it is filled from as many templates as it takes. The last one may go past its end.
    for (let left = maxListings; resources.length < pageSize && left > 0 && at < open.length; left--) {
      const listing = await open[at]?.list?.(own === null ? {} : { cursor: own }, toolContextOf(call, {}))
      if (call.stop.reason) throw call.stop.reason
      for (const entry of listing?.resources ?? []) {
        if (typeof entry.uri !== 'string' || typeof entry.name !== 'string')
          throw new TypeError('each entry needs a uri and a name')
        resources.push(projectEntry({ ...entry }, features))
      }
      assertSendable(resources, call)
      own = listing?.next ?? null
      if (own === null) at++
    }
    const next = open[at]
    return seal({
      resources,
      ...(next && { nextCursor: toCursor('listed', JSON.stringify([next.name, own])) }),
      ...(features.era === 'modern' && modernFields(true, ttlMs, serverMeta)),
    })
  }
  /** All pages of one list say the same scope, and what templates list may depend on the caller. */
  function seal(result: Params): Prepared {
    return new Prepared(JSON.stringify('cacheScope' in result ? { ...result, cacheScope: 'private' } : result))
  }
}

/** Cursors are not sealed, so what comes back may be anybody's. */
function parseTemplateCursor(text: string): readonly [name: string, cursor: string | null] | undefined {
  try {
    const [name, cursor]: unknown[] = JSON.parse(text)
    return typeof name === 'string' && (cursor === null || typeof cursor === 'string') ? [name, cursor] : undefined
  } catch {
    return undefined
  }
}

const isFixed = (cursor: unknown): boolean => {
  try {
    fromCursor('resources', cursor)
    return true
  } catch {
    return false
  }
}
