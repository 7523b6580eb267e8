/**
 * Turns the links of Obsidian (`[[Page]]`, `[[folder/Page#Heading|text]]`, `![[Page]]`) into links to articles. A
 * client can read those, and cannot read Obsidian's. A link to a missing or hidden page becomes its text.
 */

import { type Article, uriOf } from './article.ts'

const wikiLink = /!?\[\[([^\][|#\n]*)(?:#([^\][|\n]*))?(?:\|([^\][\n]*))?\]\]/g
/** Fenced code and code in a line, which stay as they are: `[[ -f file ]]` is a condition of the shell. */
const code = /^(```|~~~)[^\n]*\n[\s\S]*?^\1[ \t]*$|`[^`\n]*`/gm

export function resolveLinks(text: string, find: (name: string) => Article | undefined): string {
  if (!text.includes('[[')) return text
  let resolved = ''
  let at = 0
  for (const match of text.matchAll(code)) {
    resolved += resolveProse(text.slice(at, match.index), find) + match[0]
    at = match.index + match[0].length
  }
  return resolved + resolveProse(text.slice(at), find)
}

const resolveProse = (prose: string, find: (name: string) => Article | undefined): string =>
  prose.replace(wikiLink, (_, page: string, heading: string | undefined, label: string | undefined) => {
    const shown = (label || [page, heading].filter(Boolean).join(' › ')).trim()
    const article = page.trim() === '' ? undefined : find(page)
    return article ? `[${shown}](${uriOf(article)})` : shown
  })
