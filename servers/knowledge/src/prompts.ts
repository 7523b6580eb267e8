/** A prompt that answers a question from the articles only. */

import { type Prompt, prompt } from 'sluice'
import * as z from 'zod'
import { uriOf } from './article.ts'
import type { KnowledgeBase } from './knowledge-base.ts'
import { citationOf, toText } from './texts.ts'

/** Enough for most questions, and short enough to read. */
const maxArticles = 4

export const promptsOf = (base: KnowledgeBase): readonly Prompt[] => [
  prompt({
    name: 'answer_with_citations',
    title: `Ask the ${base.title} knowledge base`,
    description: `Answer a question from the ${base.title} articles, with citations`,
    input: z.object({ question: z.string().min(1).max(500).describe('What you want to know') }),
    run({ question }) {
      const found = base.search(question).slice(0, maxArticles)
      const how =
        found.length === 0
          ? `The ${base.title} knowledge base has no article on this. Say so; do not answer from memory. You may try search_articles with other words first.`
          : `Answer from the ${base.title} articles that follow and from nothing else. After each statement name the article it comes from, as [collection/slug]. Where they do not answer the question, say so. End with a list of the articles you cited.`
      return [
        { role: 'user', content: `${question}\n\n${how}` },
        ...found.map((article) => ({
          role: 'user' as const,
          content: {
            type: 'resource' as const,
            resource: {
              uri: uriOf(article),
              mimeType: 'text/markdown',
              text: `${citationOf(article)}\n\n${toText(base, article)}`,
            },
          },
        })),
      ]
    },
  }),
]
