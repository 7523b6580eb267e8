/**
 * The knowledge base that `handleMethod` serves: a few articles on building software with agents. They are in code, so
 * that it needs no file.
 */

import type { Article } from './article.ts'
import { createKnowledgeBase, type KnowledgeBase } from './knowledge-base.ts'

const articles: readonly Article[] = [
  {
    collection: 'concepts',
    slug: 'context-engineering',
    title: 'Context engineering',
    description: 'Choosing what a model sees before it answers.',
    tags: ['context', 'prompts'],
    lastUpdated: '2026-03-02',
    status: 'Live',
    body: 'A model knows what it was trained on and what stands in front of it. The second part is yours: pick the files, the rules and the examples that matter for this task, and leave out the rest. Too little and it guesses; too much and it overlooks.',
  },
  {
    collection: 'concepts',
    slug: 'agentic-sdlc',
    title: 'Agentic SDLC',
    longTitle: 'The software life cycle when agents write the code',
    description: 'What changes in planning, building and review once agents do the typing.',
    tags: ['agents', 'process'],
    lastUpdated: '2026-02-11',
    status: 'Live',
    body: 'When code is cheap, what is scarce is knowing what to build and knowing that it was built. Specifications, tests and reviews move to the front; typing moves to the back.',
  },
  {
    collection: 'patterns',
    slug: 'adversarial-code-review',
    title: 'Adversarial code review',
    description: 'A second model looks for what the first one got wrong.',
    tags: ['review', 'quality'],
    lastUpdated: '2026-01-20',
    status: 'Live',
    body: 'Give the change and its specification to a model that did not write it, with one task: find where they differ. It has no reason to be polite to the author.',
  },
  {
    collection: 'practices',
    slug: 'adversarial-code-review',
    title: 'Reviewing against the spec',
    description: 'How to set up a second reader for every change, step by step.',
    tags: ['review', 'how-to'],
    lastUpdated: '2026-01-25',
    status: 'Experimental',
    body: '1. Put the specification beside the change.\n2. Start a fresh session without the conversation that led to it.\n3. Ask for differences, with line numbers.\n4. Settle each one before merging.',
  },
  {
    collection: 'practices',
    slug: 'living-specs',
    title: 'Living specs',
    description: 'Specifications that change with the code, in the same commit.',
    tags: ['specifications'],
    lastUpdated: '2026-02-28',
    status: 'Live',
    body: 'A specification that is not kept is a trap: the next agent believes it. Keep it beside the code, change both in one commit, and let a test quote it.',
  },
]

export const asdlc: KnowledgeBase = createKnowledgeBase('ASDLC', articles)
