/**
 * Documents show tested code: a code block that begins with a file name in a comment (`// examples/hello.ts`) is that
 * file or a run of its lines, except for indentation; and the examples run.
 */

import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url).pathname
const read = (path: string): string => readFileSync(root + path, 'utf8')

interface Block {
  readonly document: string
  readonly language: string
  /** The file that the first line names, if any. */
  readonly file: string | undefined
  /** The code after that line. */
  readonly code: string
}
const named = /^(?:\/\/|#) ([\w-]+\/[\w./-]+\.\w+)\n/
const blocksIn = (document: string): readonly Block[] =>
  [...read(document).matchAll(/^```(\w*)[^\n]*\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
    document,
    language,
    file: named.exec(text)?.[1],
    code: text.replace(named, ''),
  }))

const documents = globSync(['*.md', 'docs/**/*.md', '{packages,servers}/*/README.md'], { cwd: root }).sort()
const blocks = documents.flatMap(blocksIn)
const quoting = blocks.filter(({ file }) => file !== undefined)
const examples = globSync('examples/{guides,layers,servers,transports}/*.ts', { cwd: root })
  .filter((file) => !file.endsWith('.test.ts'))
  .sort()

const flat = (text: string): readonly string[] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.trim())

/** Returns runs of the file's lines, from each line that equals the first shown one. */
function runsOf(shown: readonly string[], file: string): readonly (readonly string[])[] {
  const whole = flat(read(file))
  const starts = whole.flatMap((line, index) => (line === shown[0] ? [index] : []))
  return starts.map((start) => whole.slice(start, start + shown.length))
}
const isIn = (shown: readonly string[], file: string): boolean =>
  runsOf(shown, file).some((run) => run.join('\n') === shown.join('\n'))

test.each(quoting)('$document shows $file unchanged', ({ file = '', code }) => {
  const shown = flat(code)
  const runs = runsOf(shown, file)
  expect(runs.length, `${shown[0]} is a line of ${file}`).toBeGreaterThan(0)
  if (!isIn(shown, file)) expect(runs[0]).toEqual(shown)
})

test.each(examples)('%s runs, and is shown in a document', (file) => {
  execFileSync(process.execPath, [root + file], { stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 })
  expect(quoting.map((block) => block.file)).toContain(file)
})

/** The first program of each is extracted and run on packed packages in `test/packages`. */
const packed = new Map([
  ['README.md', 'ts'],
  ['servers/knowledge/README.md', 'js'],
])
/** The sketch of a tool with `…` in it, and declarations. */
const noPrograms = /^docs\/(design\.md|reference\/)/

test('every program in a document is a file that is tested, or a run of its lines', () => {
  const all = globSync('examples/**/*.ts', { cwd: root })
  const programs = blocks.filter(({ language, document }) => /^[jt]s$/.test(language) && !noPrograms.test(document))
  const first = [...packed].map(([document, language]) =>
    programs.find((block) => block.document === document && block.language === language),
  )
  const loose = programs
    .filter((block) => block.file === undefined && !first.includes(block))
    .filter(({ code }) => !all.some((file) => isIn(flat(code), file)))
  expect(loose).toEqual([])
  expect(quoting.length).toBeGreaterThan(10)
})

test('every JSON block is valid JSON', () => {
  for (const { code, language, document } of blocks)
    if (language === 'json') expect(() => JSON.parse(code) as unknown, document).not.toThrow()
})

test('links between documents are valid', () => {
  const broken = documents.flatMap((document) =>
    [...read(document).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)]
      .map(([, link = '']) => new URL(link, `file://${root}${document}`).pathname)
      .filter((path) => globSync(path).length === 0)
      .map((path) => `${document}: ${path}`),
  )
  expect(broken).toEqual([])
})
