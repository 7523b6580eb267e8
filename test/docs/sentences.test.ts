/** Tests `scripts/plain-words/sentences.ts`: what the check of words reads, and what it skips. */

import { expect, test } from 'vitest'
import { sentencesOfMarkdown, sentencesOfSource } from '../../scripts/plain-words/sentences.ts'

const textsOf = (found: readonly { readonly text: string }[]): readonly string[] => found.map(({ text }) => text)

test('a paragraph is read across its lines and split into sentences', () => {
  expect(sentencesOfMarkdown('# Title\n\nOne line\ngoes on. The second, e.g. this one, ends.\n\n- item')).toEqual([
    { line: 1, text: 'Title' },
    { line: 3, text: 'One line goes on.' },
    { line: 3, text: 'The second, e.g. this one, ends.' },
    { line: 6, text: 'item' },
  ])
})

test('code blocks are skipped, inline code is one word, and a link is its text', () => {
  const markdown = '```ts\nconst nobody = 1\n```\nCall `run(a, b)` of [the page](page.md).'
  expect(textsOf(sentencesOfMarkdown(markdown))).toEqual(['Call `run(a,_b)` of the page.'])
})

test('each cell of a table is a text, but names of tests are not', () => {
  expect(textsOf(sentencesOfMarkdown('| asks | test |\n|---|---|\n| a question | the name of a test |'))).toEqual([
    'asks',
    '---',
    'a question',
  ])
})

test('messages are read from strings, and comments, names and data are skipped', () => {
  const placeholder = '$' + '{name}'
  const source = [
    "// Don't read this: it's a comment",
    `throw new Error(\`tool ${placeholder} is missing: add it\`)`,
    `const list = '${'a b c d '.repeat(5)}'`,
  ]
  expect(sentencesOfSource(source.join('\n'))).toEqual([{ line: 2, text: 'tool …x is missing: add it' }])
})
