/**
 * Turns the links of Obsidian (`[[Page]]`, `[[folder/Page#Heading|text]]`, `![[Page]]`) into links to articles. A
 * client can read those, and cannot read Obsidian's. A link to a missing or hidden page becomes its text. An embedded
 * picture is left out, because it is not part of the text.
 */

import { type Article, uriOf } from './article.ts'

const picture = /\.(?:avif|bmp|gif|jpe?g|png|svg|webp)$/i
/**
 * Matches code or a link, whichever begins first. Code stays as it is: `[[ -f file ]]` is a condition of the shell. The
 * text of a link may contain code.
 */
const codeOrLink =
  /^(?<fence>```|~~~)[^\n]*\n[\s\S]*?(?:^\k<fence>[ \t]*$|(?![\s\S]))|`[^`\n]*`|!?\[\[(?<page>[^\][|#\n]*)(?:#(?<heading>[^\][|\n]*))?(?:\|(?<label>[^\][\n]*))?\]\]/gm

export function resolveLinks(text: string, find: (name: string) => Article | undefined): string {
  if (!text.includes('[[')) return text
  return text.replace(codeOrLink, (match: string, ...rest: readonly unknown[]) => {
    const { page, heading, label } = rest.at(-1) as { readonly [group: string]: string | undefined }
    if (page === undefined) return match
    if (match.startsWith('!') && picture.test(page)) return ''
    const shown = (label || [page, heading].filter(Boolean).join(' › ')).trim()
    const article = page.trim() === '' ? undefined : find(page)
    return article ? `[${shown}](${uriOf(article)})` : shown
  })
}
