/** Formats articles as text for a model: one line in a list, or the whole article. */

import type { Article, Reference } from './article.ts'
import { keyOf } from './article.ts'
import type { KnowledgeBase } from './knowledge-base.ts'
import { resolveLinks } from './links.ts'

export const listLine = (name: string, { title, description }: Article): string =>
  description === '' ? `- [${name}] ${title}` : `- [${name}] ${title}: ${description}`

export const didYouMean = (articles: readonly Article[]): string =>
  articles.length === 0 ? '' : ` Did you mean ${articles.map(keyOf).join(', ')}?`

/** The form in which answers cite an article, and in which the server's instructions ask for citations. */
export const citationOf = (article: Article): string => `[${keyOf(article)}]`

/** Puts a recipe's own fields first, then title, text and references. */
export function toText(base: Pick<KnowledgeBase, 'findByLink'>, article: Article): string {
  const { title, longTitle = title, references = [] } = article
  const body = resolveLinks(article.body, base.findByLink)
  return [
    ...recipeFields(article),
    // Plain Markdown already contains its heading.
    body.startsWith(`# ${longTitle}\n`) ? body : `# ${longTitle}\n\n${body}`,
    ...(references.length > 0 ? [`## References\n\n${references.map(formatReference).join('\n\n')}`] : []),
  ].join('\n\n')
}

function recipeFields({
  difficulty,
  category,
  tools,
  prerequisites,
  estimatedMinutes,
  agentPrompt,
}: Article): readonly string[] {
  const rows = Object.entries({
    Difficulty: difficulty,
    Category: category,
    Tools: tools?.join(', '),
    Prerequisites: prerequisites?.join(', '),
    'Estimated minutes': estimatedMinutes,
  }).filter(([, value]) => value !== undefined)
  return [
    ...(agentPrompt === undefined ? [] : [`## Usage Hint\n\n${agentPrompt}`]),
    ...(rows.length === 0
      ? []
      : [`## Recipe Metadata\n\n${rows.map(([name, value]) => `- ${name}: ${value}`).join('\n')}`]),
  ]
}

function formatReference(reference: Reference, index: number): string {
  const { title, author, authors, published, url, publisher, isbn, doi, accessed, type, annotation } = reference
  const rows = Object.entries({
    [authors && authors.length > 1 ? 'Authors' : 'Author']: authors?.join(', ') ?? author,
    Published: published,
    URL: url,
    Publisher: publisher,
    ISBN: isbn,
    DOI: doi,
    Accessed: accessed,
    Type: type,
  }).filter(([, value]) => value !== undefined)
  return [
    `${index + 1}. **${title}**`,
    ...rows.map(([name, value]) => `   ${name}: ${value}`),
    ...(annotation === undefined ? [] : [`   ${annotation}`]),
  ].join('\n')
}
