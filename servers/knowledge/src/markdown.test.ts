import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InvalidArticle, splitFrontMatter } from './front-matter.ts'
import { resolveLinks } from './links.ts'
import { type Content, type Rules, toContent } from './markdown.ts'

const source = { file: 'concepts/a.md', name: 'a', changed: '2026-01-02' }
const parse = (text: string, rules: Rules = 'strict'): Content =>
  toContent(source, splitFrontMatter(text, source.file), rules)
const withMatter = (yaml: string, rules: Rules = 'strict'): Content => parse(`---\n${yaml}\n---\n\nText.\n`, rules)

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
        const { title, description } = parse(pieces.join(''), 'common')
        expect(title.length).toBeLessThanOrEqual(120)
        expect(description.length).toBeLessThanOrEqual(200)
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(InvalidArticle)
      }
    }),
  )
})

test('without status in the folder, the front matter of other programs is taken as it is', () => {
  expect(
    withMatter(
      `title: ${'A long title of a page '.repeat(3)}
date: 2024-01-31 10:00:00 +0100
lastmod: 2024-06-01T08:00:00Z
tags: [{ label: One }, two, 3]
keywords: "#four, five"
aliases: [Other name]
references: [not, ours]
estimatedMinutes: 5
sidebar_position: 2`,
      'common',
    ),
  ).toEqual({
    title: 'A long title of a page A long title of a page A long title of a page',
    description: 'Text.',
    tags: ['One', 'two', '3', 'four', 'five'],
    aliases: ['Other name'],
    estimatedMinutes: 5,
    lastUpdated: '2024-06-01',
    status: 'Live',
    body: 'Text.',
  })
})

test.each([
  ['updated: 2024-05-01\ndate: 2023-01-01', '2024-05-01'],
  ['last_update: { date: 2024-05-02, author: A }', '2024-05-02'],
  ['date: 2024-02-31', '2026-01-02'],
  ['date: yesterday', '2026-01-02'],
  ['title: No date', '2026-01-02'],
])('the date of %j is %s; the time of the file replaces an unreadable date', (yaml, date) => {
  expect(withMatter(yaml, 'common').lastUpdated).toBe(date)
})

test('only draft: true hides a file, and a misspelt draft is refused', () => {
  expect(withMatter('title: A', 'common').status).toBe('Live')
  expect(withMatter('draft: false', 'common').status).toBe('Live')
  expect(withMatter('draft: true', 'common').status).toBe('Draft')
  expect(withMatter('title: A\nlastUpdated: 2026-01-01\nstatus: Live\ndraft: true').status).toBe('Draft')
  expect(() => withMatter('draft: ture', 'common')).toThrow('concepts/a.md: draft: write true or false')
})

test("Hugo's TOML is read like YAML", () => {
  const text = '+++\ntitle = "Hello"\ndate = 2024-01-31T10:00:00+01:00\ntags = ["a"]\ndraft = true\n+++\nText.'
  expect(parse(text, 'common')).toMatchObject({
    ...{ title: 'Hello', lastUpdated: '2024-01-31', tags: ['a'], status: 'Draft', body: 'Text.' },
  })
  expect(() => parse('+++\ntitle = \n+++\nText.', 'common')).toThrow(/^concepts\/a\.md: front matter: /)
  expect(() => parse('+++\ntitle = "A"\nText.', 'common')).toThrow('the closing +++ line is missing')
})

test('a code block that is not closed ends with the text, and nothing in it is a title or a link', () => {
  const text = 'First.\n\n```sh\n# not a title\n[[Page]]\n'
  expect(parse(text)).toMatchObject({ title: 'a', description: 'First.' })
  expect(resolveLinks(`[[Page]]\n${text}`, () => undefined)).toBe(`Page\n${text}`)
})

test.each([
  ['brackets', '['.repeat(100_000)],
  ['links', '[[a'.repeat(50_000)],
  ['code blocks', '```a\n'.repeat(50_000)],
])('a long run of open %s takes no longer than other text', (_, open) => {
  const before = process.threadCpuUsage()
  parse(open)
  resolveLinks(`[[Page]]\n${open}`, () => undefined)
  const { user } = process.threadCpuUsage(before)
  expect(user / 1000).toBeLessThan(1000)
})
