/** What changed on disk goes into the base, and whoever listens hears of it. */

import type { Server } from 'sluice'
import type { App } from './app.ts'
import type { Article } from './article.ts'
import { keyOf, uriOf } from './article.ts'
import { knowledge } from './definition.ts'
import type { FolderChanges } from './folder.ts'

export function refresh(base: App, { put, removed }: Pick<FolderChanges, 'put' | 'removed'>, server: Server): void {
  const changed = new Set<string>()
  let lists = false
  const compare = (key: string, change: () => void): void => {
    const [before] = base.findByName(key)
    change()
    const [after] = base.findByName(key)
    // Hidden before and after: nobody may know that it is there.
    for (const article of [before, after]) if (article) changed.add(uriOf(article))
    lists ||= listEntryOf(before) !== listEntryOf(after)
  }
  for (const key of removed) compare(key, () => base.remove(key))
  for (const article of put) compare(keyOf(article), () => base.put(article))
  if (changed.size === 0) return
  // The collections are part of the tools' schemas.
  server.update(knowledge(base))
  if (lists) server.listChanged('resources')
  for (const uri of changed) server.resourceUpdated(uri)
}

/** What the list says of an article. */
const listEntryOf = (article: Article | undefined): string | undefined =>
  article && JSON.stringify([article.title, article.description, article.lastUpdated])
