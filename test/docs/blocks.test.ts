/**
 * What documents show is what is tested: a code block that begins with the name of a file in a comment
 * (`// examples/hello.ts`) is that file or a run of its lines, indentation aside; and the examples run.
 */

import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url).pathname
const read = (path: string): string => readFileSync(root + path, 'utf8')

interface Block {
  readonly document: string
  readonly language: string
  /** What the first line names, if it names a file. */
  readonly file: string | undefined
  /** What follows that line. */
  readonly code: string
}
const named = /^(?:\/\/|#) ([\w./-]+\.\w+)\n/
const blocksIn = (document: string): readonly Block[] =>
  [...read(document).matchAll(/^```(\w*)[^\n]*\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
    document,
    language,
    file: named.exec(text)?.[1],
    code: text.replace(named, ''),
  }))

const documents = ['README.md', 'AGENTS.md', ...globSync('docs/**/*.md', { cwd: root }).sort()]
const blocks = documents.flatMap(blocksIn)
const quoting = blocks.filter(({ file }) => file !== undefined)
const examples = globSync('examples/{guides,layers,transports}/*.ts', { cwd: root })
  .filter((file) => !file.endsWith('.test.ts'))
  .sort()

const flat = (text: string): readonly string[] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.trim())

test.each(quoting)('$document shows $file as it is', ({ file = '', code }) => {
  const [shown, whole] = [flat(code), flat(read(file))]
  const starts = whole.flatMap((line, index) => (line === shown[0] ? [index] : []))
  expect(starts.length, `${shown[0]} is a line of ${file}`).toBeGreaterThan(0)
  const runs = starts.map((start) => whole.slice(start, start + shown.length))
  expect(runs.find((run) => run.join('\n') === shown.join('\n')) ?? runs[0]).toEqual(shown)
})

test.each(examples)('%s runs, and is shown in a document', (file) => {
  execFileSync(process.execPath, [root + file], { stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 })
  expect(quoting.map((block) => block.file)).toContain(file)
})

test('every program in the guides and the pages of the layers is a file that is tested', () => {
  const loose = blocks.filter(
    ({ document, language, file }) => /^docs\/(guides|layers)/.test(document) && language === 'ts' && !file,
  )
  expect(loose).toEqual([])
  expect(quoting.length).toBeGreaterThan(10)
})

test('links between documents lead somewhere', () => {
  const broken = documents.flatMap((document) =>
    [...read(document).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)]
      .map(([, link = '']) => new URL(link, `file://${root}${document}`).pathname)
      .filter((path) => globSync(path).length === 0)
      .map((path) => `${document}: ${path}`),
  )
  expect(broken).toEqual([])
})
