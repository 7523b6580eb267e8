/**
 * `resources/list` for templates that can list their resources. Fixed resources come first, ready made, then the
 * templates' resources.
 */

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

/**
 * Maximum number of template calls per page. Otherwise a template that returns nothing and always promises more would
 * hold a call.
 */
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
    let templateCursor: string | null = null
    if (cursor === undefined || open.length === 0 || isFixed(cursor)) {
      const page = fixed.page(features.name, call.caller.scopes, cursor)
      const ready = JSON.parse(page.json) as Params
      if (open.length === 0) return page
      if (ready['nextCursor'] !== undefined) return toPrivatePage(ready)
      if (Array.isArray(ready['resources'])) resources.push(...ready['resources'])
    } else {
      const [name, rest] = parseTemplateCursor(fromCursor('listed', cursor)) ?? []
      at = open.findIndex((source) => source.name === name)
      templateCursor = rest ?? null
      if (at === -1) fromCursor('listed', '')
    }
    // Many clients read only one page, so it is filled from as many templates as needed. The last one may exceed the
    // page size.
    for (let remaining = maxListings; resources.length < pageSize && remaining > 0 && at < open.length; remaining--) {
      const listing = await open[at]?.list?.(
        templateCursor === null ? {} : { cursor: templateCursor },
        toolContextOf(call, {}),
      )
      if (call.stop.reason) throw call.stop.reason
      for (const entry of listing?.resources ?? []) {
        if (typeof entry.uri !== 'string' || typeof entry.name !== 'string')
          throw new TypeError('each entry needs a uri and a name')
        resources.push(projectEntry({ ...entry }, features))
      }
      assertSendable(resources, call)
      templateCursor = listing?.next ?? null
      if (templateCursor === null) at++
    }
    const next = open[at]
    return toPrivatePage({
      resources,
      ...(next && { nextCursor: toCursor('listed', JSON.stringify([next.name, templateCursor])) }),
      ...(features.era === 'modern' && modernFields(true, ttlMs, serverMeta)),
    })
  }
  /**
   * Makes the page private. All pages of one list have the same scope, and the resources of a template may depend on
   * the caller.
   */
  function toPrivatePage(result: Params): Prepared {
    return new Prepared(JSON.stringify('cacheScope' in result ? { ...result, cacheScope: 'private' } : result))
  }
}

/** Parses a template cursor. Cursors are not sealed, so any client may have made it up. */
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
