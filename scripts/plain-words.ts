/**
 * Checks the English of documents and messages: no retired phrase, and few sentences of more than 25 words. The allowance
 * for long sentences is committed and may only go down: `node scripts/plain-words.ts --lower` writes the new numbers.
 *
 * `npm run check` runs it. `-- --list` prints every long sentence.
 */

import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { sentencesOfMarkdown, sentencesOfSource } from './plain-words/sentences.ts'

const root = new URL('../', import.meta.url).pathname
const allowanceFile = `${root}scripts/plain-words/allowance.json`
const maxWords = 25

/** Phrases that make a reader guess, and what to write instead. */
const retired: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\b(?:whoever|whomever|nobody|somebody)\b/i, 'name the subject: "the client", "the caller", "no person"'],
  [/\b(?:is|are|was|were) no (?!longer\b|more than\b|less than\b|larger\b)/i, '"is not a", or "there is no"'],
  [/\bunless (?:said|told)\b/i, '"by default"'],
  [/\bunder way\b/i, '"running" or "in flight"'],
  [/\bof (?:its|their|his|our|your|my) own\b/i, '"its own", "separate", or leave it out'],
  [/(?:^|[\s|])Nothing: /, '"`undefined` if …"'],
  [/\b(?:is|are) not good\b/i, '"invalid"'],
  [/\bvouch(?:es|ed)? for\b/i, '"verified"'],
]
/** "There is no store" is plain English. */
const plain = /\b(?:there|this) (?:is|are|was|were) no /gi

interface Text {
  readonly file: string
  readonly line: number
  readonly text: string
}
const documents = globSync(['*.md', 'docs/**/*.md', '{packages,servers}/*/README.md', 'test/README.md'], { cwd: root })
  // The reference is generated from the comments in the sources.
  .filter((file) => !file.startsWith('docs/reference/'))
const sources = globSync('{packages,servers}/*/src/**/*.{ts,tsx}', { cwd: root }).filter(
  (file) => !/\.test\.tsx?$|\.d\.ts$/.test(file),
)
const read = (files: readonly string[], sentencesOf: typeof sentencesOfMarkdown): readonly Text[] =>
  files.sort().flatMap((file) => sentencesOf(readFileSync(root + file, 'utf8')).map((found) => ({ file, ...found })))

const wordsOf = (sentence: string): number => sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
const where = ({ file, line }: Text): string => `${file}:${line}`

const texts = { documents: read(documents, sentencesOfMarkdown), messages: read(sources, sentencesOfSource) }
const allowance = JSON.parse(readFileSync(allowanceFile, 'utf8')) as Record<keyof typeof texts, number>

let failed = false
for (const text of [...texts.documents, ...texts.messages])
  for (const [phrase, instead] of retired) {
    const found = phrase.exec(text.text.replaceAll(plain, ''))
    if (!found) continue
    failed = true
    console.error(`${where(text)} says "${found[0].trim()}". Write ${instead}.\n    ${text.text}`)
  }

const counts = { ...allowance }
for (const kind of ['documents', 'messages'] as const) {
  const long = texts[kind].filter(({ text }) => wordsOf(text) > maxWords)
  counts[kind] = long.length
  const isOver = long.length > allowance[kind]
  if (isOver || process.argv.includes('--list'))
    for (const text of long) console.error(`${where(text)} has ${wordsOf(text.text)} words.\n    ${text.text}`)
  if (isOver) failed = true
  const verdict = isOver ? 'make them shorter' : long.length < allowance[kind] ? 'lower it with --lower' : 'keep it there'
  console.error(`${kind}: ${long.length} sentences over ${maxWords} words, allowed are ${allowance[kind]}: ${verdict}`)
}
if (process.argv.includes('--lower') && !failed) writeFileSync(allowanceFile, `${JSON.stringify(counts, null, 2)}\n`)
process.exitCode = failed ? 1 : 0
