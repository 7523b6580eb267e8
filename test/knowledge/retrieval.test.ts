/** Whether Sluice's own documents, as the knowledge server ships them, answer questions about Sluice. */

import { expect, test } from 'vitest'
import { openFolder } from '../../servers/knowledge/src/folder.ts'
import { createKnowledgeBase } from '../../servers/knowledge/src/knowledge-base.ts'
import { questions, scoreRetrieval } from './questions.ts'

const docs = new URL('../../docs/', import.meta.url).pathname
const { put, problems } = await openFolder(docs)()
const base = createKnowledgeBase('Sluice', put)

test('every page of the documents is an article', () => {
  expect(problems).toEqual([])
  expect(base.articles).toHaveLength(put.length)
})

test('of all questions, including misspelt ones, 95 % find their page among the first three', () => {
  const { asked, right, missed } = scoreRetrieval(base)
  expect(asked).toBeGreaterThanOrEqual(30)
  expect(right / asked, missed.join('\n')).toBeGreaterThanOrEqual(0.95)
})

test('every question is about an existing page', () => {
  for (const [, page] of questions) expect(base.findByName(page).length, page).toBe(1)
})

test.each(['xyzzy plugh', 'qwertyuiop', 'zzzzzz', '12345678901'])('nonsense finds nothing in them: %s', (query) => {
  expect(base.search(query).map(({ slug }) => slug)).toEqual([])
})
