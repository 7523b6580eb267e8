/** Applies changes on disk to the knowledge base and notifies subscribed clients. */

import type { Server, Skills } from 'sluice'
import type { Article } from './article.ts'
import { keyOf, uriOf } from './article.ts'
import { knowledge } from './definition.ts'
import type { FolderChanges } from './folder.ts'
import type { KnowledgeBase } from './knowledge-base.ts'

export function refresh(
  base: KnowledgeBase,
  { put, removed }: Pick<FolderChanges, 'put' | 'removed'>,
  server: Server,
  skills?: { readonly current: Skills | undefined; readonly changed: boolean },
): void {
  const changed = new Set<string>()
  let lists = false
  const compare = (key: string, change: () => void): void => {
    const [before] = base.findByName(key)
    change()
    const [after] = base.findByName(key)
    // An article that is hidden before and after must not be revealed by a notification.
    for (const article of [before, after]) if (article) changed.add(uriOf(article))
    lists ||= listEntryOf(before) !== listEntryOf(after)
  }
  for (const key of removed) compare(key, () => base.remove(key))
  for (const article of put) compare(keyOf(article), () => base.put(article))
  if (changed.size === 0 && !skills?.changed) return
  // The collections are part of the tools' schemas. An update also notifies clients of changed skills.
  server.update(knowledge(base, skills?.current))
  if (lists) server.listChanged('resources')
  for (const uri of changed) server.resourceUpdated(uri)
}

/** Returns the text of an article's list entry. */
const listEntryOf = (article: Article | undefined): string | undefined =>
  article && JSON.stringify([article.title, article.description, article.lastUpdated])
