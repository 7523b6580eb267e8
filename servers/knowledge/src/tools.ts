/** The three tools: list, get and search. */

import { fail, type Tool, type ToolResult, tool } from 'sluice'
import * as z from 'zod'
import type { Article } from './article.ts'
import { keyOf, statuses, uriOf } from './article.ts'
import type { KnowledgeBase } from './knowledge-base.ts'
import { citationOf, didYouMean, listLine, toText } from './texts.ts'

const summary = z.object({
  collection: z.string(),
  slug: z.string(),
  uri: z.string(),
  title: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  status: z.enum(statuses),
  lastUpdated: z.string(),
})
const full = summary.extend({
  content: z.string().describe('Markdown'),
  citation: z.string().describe('How to cite the article'),
})

const toSummary = (article: Article): z.input<typeof summary> => {
  const { collection, slug, title, description, tags, status, lastUpdated } = article
  return { collection, slug, uri: uriOf(article), title, description, tags: [...tags], status, lastUpdated }
}
const toFull = (base: KnowledgeBase, article: Article): z.input<typeof full> => ({
  ...toSummary(article),
  content: toText(base, article),
  citation: citationOf(article),
})

const answer = (structuredContent: object, ...texts: readonly string[]): ToolResult => ({
  content: texts.map((text) => ({ type: 'text', text })),
  structuredContent,
})

/** Fuzzy search is expensive for long texts, and no question is longer. */
const maxQueryLength = 500
/** Whole articles in one answer. More would crowd out everything else in the model's context. */
const maxFullArticles = 5
/** Articles in one list. More would take too long to encode, and no model reads them. */
const maxListed = 500
const annotations = { readOnlyHint: true, openWorldHint: false }

export const toolsOf = (base: KnowledgeBase): readonly Tool[] => [
  tool({
    name: 'list_articles',
    description: `List all ${base.title} knowledge base articles (Live and Experimental only)`,
    annotations,
    input: z.object({
      category: enumOf(base.collections).describe('Filter by content category').optional(),
      limit: z
        .number()
        .refine((limit) => Number.isInteger(limit) && limit > 0, 'must be a whole number, 1 or more')
        .describe('Maximum number of articles to return')
        .optional(),
    }),
    output: z.object({ total: z.number(), articles: z.array(summary) }),
    run({ category, limit = 50 }) {
      const all = base.articles.filter(({ collection }) => category === undefined || collection === category)
      const shown = all.slice(0, Math.min(limit, maxListed))
      const lines = shown.map((article) => listLine(keyOf(article), article))
      return answer({ total: all.length, articles: shown.map(toSummary) }, lines.join('\n') || 'No articles found.')
    },
  }),
  tool({
    name: 'get_article',
    description: 'Get the full content of a specific article by slug',
    annotations,
    input: z.object({ slug: z.string().describe('Article slug (filename without extension)') }),
    output: full.extend({ others: z.array(z.string()).describe('Articles of the same slug in other collections') }),
    run({ slug }) {
      const [article, ...rest] = base.findByName(slug)
      if (!article) {
        const name = slug.slice(0, maxQueryLength)
        const next = didYouMean(base.suggestByName(name)) || ' Find slugs with search_articles or list_articles.'
        throw fail(`Article '${name}' not found or not available.${next}`)
      }
      const others = rest.map(keyOf)
      const whole = toFull(base, article)
      const note = others.length === 0 ? [] : [`Other articles with this slug: ${others.join(', ')}`]
      return answer({ ...whole, others }, whole.content, `Cite this article as ${whole.citation}`, ...note)
    },
  }),
  tool({
    name: 'search_articles',
    description: 'Search articles by keyword in title, tags, or description',
    annotations,
    input: z.object({
      query: z
        .string()
        .refine(({ length }) => length <= maxQueryLength, `must have at most ${maxQueryLength} characters`)
        .describe('Search query'),
      include_content: z.boolean().default(false).describe('Include full markdown content in results'),
    }),
    output: z.object({
      articles: z.array(
        summary.extend({ content: full.shape.content.optional(), citation: full.shape.citation.optional() }),
      ),
      suggestions: z.array(summary).describe('If nothing was found: articles that may have been meant'),
    }),
    run({ query, include_content }) {
      const found = base.search(query).slice(0, include_content ? maxFullArticles : undefined)
      if (found.length === 0) {
        const meant = base.suggest(query)
        const text = `No articles found matching '${query}'.${didYouMean(meant)}`
        return answer({ articles: [], suggestions: meant.map(toSummary) }, text)
      }
      if (!include_content) {
        const lines = found.map((article) => listLine(keyOf(article), article))
        return answer({ articles: found.map(toSummary), suggestions: [] }, lines.join('\n'))
      }
      const whole = found.map((article) => toFull(base, article))
      return answer(
        { articles: whole, suggestions: [] },
        ...whole.map(({ citation, content }) => `${citation}\n\n${content}`),
      )
    },
  }),
]

/** Returns an enum of the names, or any string if there are none. */
function enumOf(names: readonly string[]): z.ZodType<string, string> {
  const [first, ...rest] = names
  return first === undefined ? z.string() : z.enum([first, ...rest])
}
