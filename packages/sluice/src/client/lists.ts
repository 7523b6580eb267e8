/** Lists, page by page. A server that hands out cursors forever must not keep a client busy forever. */

import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { ClientError } from './errors.ts'

const maxPages = 1000

/** Yields the pages of a list, each as the raw result. */
export async function* pagesOf(
  ask: (params: Params) => Promise<Params>,
  params: Params,
): AsyncGenerator<Params, void, undefined> {
  const seen = new Set<string>()
  let next: Params = params
  for (let page = 0; page < maxPages; page++) {
    const result = await ask(next)
    yield result
    const cursor = result['nextCursor']
    if (cursor === undefined || cursor === null) return
    if (typeof cursor !== 'string') throw new ClientError('protocol', 'The server sent a cursor that is not a string')
    if (seen.has(cursor)) throw new ClientError('protocol', 'The server sent the same cursor twice')
    seen.add(cursor)
    next = { ...params, cursor }
  }
  throw new ClientError('protocol', `The list has more than ${maxPages} pages`)
}

/** Yields the entries of a list. Entries that are not objects are left out. */
export async function* entriesOf(
  pages: AsyncIterable<Params>,
  member: string,
): AsyncGenerator<Params, void, undefined> {
  for await (const page of pages) {
    const entries = page[member]
    if (!Array.isArray(entries)) throw new ClientError('protocol', `The server sent a list without "${member}"`)
    for (const entry of entries) if (isObject(entry)) yield entry
  }
}
