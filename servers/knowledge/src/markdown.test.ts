import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InvalidArticle, parseMarkdown } from './markdown.ts'

const parse = (text: string) => parseMarkdown({ file: 'concepts/a.md', name: 'a', changed: '2026-01-02', text })
const withMatter = (yaml: string, body = 'Text.') => parse(`---\n${yaml}\n---\n\n${body}\n`)

test('front matter sets every field, and the text below it is the body', () => {
  const article = withMatter(`title: Context
longTitle: Context, at length
description: What a model sees
tags: [a, b]
publishedDate: 2025-12-01
lastUpdated: 2026-02-03
status: Experimental
supersededBy: [other]
relatedIds: []
estimatedMinutes: 20
references:
  - { type: book, title: A book, published: 1978, isbn: 9780131103627 }
  - { type: website, title: A page, url: https://example.com, accessed: 2026-01-01 }`)
  expect(article).toEqual({
    title: 'Context',
    longTitle: 'Context, at length',
    description: 'What a model sees',
    tags: ['a', 'b'],
    publishedDate: '2025-12-01',
    lastUpdated: '2026-02-03',
    status: 'Experimental',
    supersededBy: ['other'],
    relatedIds: [],
    estimatedMinutes: 20,
    references: [
      { type: 'book', title: 'A book', published: '1978', isbn: '9780131103627' },
      { type: 'website', title: 'A page', url: 'https://example.com', accessed: '2026-01-01' },
    ],
    body: 'Text.',
  })
})

test('missing front-matter fields get safe defaults: the article is hidden', () => {
  expect(withMatter('title: A\nlastUpdated: 2026-01-01\ntags:\nsidebar: 4')).toEqual({
    title: 'A',
    description: '',
    tags: [],
    lastUpdated: '2026-01-01',
    status: 'Draft',
    body: 'Text.',
  })
})

test.each([
  ['lastUpdated: 2026-01-01', /title: /],
  [`title: ${'x'.repeat(41)}\nlastUpdated: 2026-01-01`, /title: .*40/],
  ['title: A', /lastUpdated: write a date/],
  ['title: A\nlastUpdated: soon', /lastUpdated: write a date such as 2026-11-16/],
  ['title: A\nlastUpdated: 2026-01-01\nstatus: Drafft', /status: .*"Draft"/],
  ['title: A\nlastUpdated: 2026-01-01\ntags: a, b', /tags: /],
  [
    'title: A\nlastUpdated: 2026-01-01\nreferences: [{ type: website, title: T }]',
    /references\.0\.accessed: a website/,
  ],
  ['title: A\nlastUpdated: 2026-01-01\nreferences: [{ type: blog, title: T }]', /references\.0\.type: /],
  ['title: [', /front matter: /],
  ['- a list', /front matter: /],
  [`a: &a [x]\n${Array.from({ length: 200 }, (_, i) => `b${i}: *a`).join('\n')}`, /front matter: |title: /],
])('invalid front matter is reported with file and field, %#', (yaml, problem) => {
  expect(() => withMatter(yaml)).toThrow(InvalidArticle)
  expect(() => withMatter(yaml)).toThrow(/^concepts\/a\.md: /)
  expect(() => withMatter(yaml)).toThrow(problem)
})

test('unterminated front matter is not plain text, because it may say Draft', () => {
  expect(() => parse('---\ntitle: A\nstatus: Draft\n\nText')).toThrow(
    'concepts/a.md: front matter: the closing --- line',
  )
})

test('byte order mark and CRLF are accepted', () => {
  expect(parse('\uFEFF---\r\ntitle: A\r\nlastUpdated: 2026-01-01\r\n---\r\nOne\r\n\r\nTwo')).toMatchObject({
    title: 'A',
    body: 'One\n\nTwo',
  })
})

test('plain Markdown is Live; its heading is the title and its first paragraph the description', () => {
  const text = `\`\`\`sh
# no heading
\`\`\`

<img src="logo.png">

# The **title** of [it](x.md)

> a quote

**Bold** start of the first
paragraph, with \`code\`.

## More`
  expect(parse(text)).toEqual({
    title: 'The title of it',
    description: 'Bold start of the first paragraph, with code.',
    tags: [],
    lastUpdated: '2026-01-02',
    status: 'Live',
    body: text,
  })
  expect(parse('just a line')).toMatchObject({ title: 'a', description: 'just a line' })
  expect(parse('')).toMatchObject({ title: 'a', description: '', body: '' })
})

test('a long first paragraph is cut after a sentence, or between words', () => {
  expect(parse(`${'Ten words are in this sentence, or so. '.repeat(20)}`).description).toMatch(/^Ten.{150,200}so\.$/)
  expect(parse('word '.repeat(100)).description).toMatch(/^word.{150,200}word…$/)
})

test('any input is either an article or a reason why it is not', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom('---\n', 'title: A\n', 'lastUpdated: 2026-01-01\n', '# ', '```\n', ': &a *a\n', '\n'),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      try {
        const { title, description } = parse(pieces.join(''))
        expect(title.length).toBeLessThanOrEqual(120)
        expect(description.length).toBeLessThanOrEqual(200)
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(InvalidArticle)
      }
    }),
  )
})
