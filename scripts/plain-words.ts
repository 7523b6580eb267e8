/**
 * Checks the English of documents and messages: no retired phrase, and few sentences of more than 25 words. What is still
 * allowed is committed in `plain-words/allowance.json`, and may only go down: `--lower` writes the new numbers.
 *
 * `npm run check` runs it. `--list` prints everything that is found.
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
  [
    /\bof (?:its|their|our) own(?:[.,;:)]|$| (?:and|at|for|in|on|or|that|to|where|which|with)\b)/i,
    '"its own", "separate", or leave it out',
  ],
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
  files
    .toSorted()
    .flatMap((file) => sentencesOf(readFileSync(root + file, 'utf8')).map((found) => ({ file, ...found })))

const wordsOf = (sentence: string): number => sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
const where = ({ file, line }: Text): string => `${file}:${line}`

type Kind = 'documents' | 'messages'
type Counts = { readonly [K in Kind]: { readonly retired: number; readonly long: number } }
const texts: { readonly [K in Kind]: readonly Text[] } = {
  documents: read(documents, sentencesOfMarkdown),
  messages: read(sources, sentencesOfSource),
}
const allowance = JSON.parse(readFileSync(allowanceFile, 'utf8')) as Counts
let failed = false

/** Prints what was found, if it is more than allowed or was asked for. */
function report(name: string, found: readonly string[], allowed: number): number {
  const isOver = found.length > allowed
  if (isOver || process.argv.includes('--list')) for (const line of found) console.log(line)
  if (isOver) failed = true
  const advice = isOver ? ': too many' : found.length < allowed ? ': lower it with --lower' : ''
  console.log(`${name}: ${found.length}, allowed ${allowed}${advice}`)
  return found.length
}
const counted = (kind: Kind): Counts[Kind] => ({
  retired: report(
    `${kind}, retired phrases`,
    texts[kind].flatMap((text) =>
      retired.flatMap(([phrase, instead]) => {
        const found = phrase.exec(text.text.replaceAll(plain, ''))
        return found ? [`${where(text)} says "${found[0].trim()}". Write ${instead}.\n    ${text.text}`] : []
      }),
    ),
    allowance[kind].retired,
  ),
  long: report(
    `${kind}, sentences over ${maxWords} words`,
    texts[kind]
      .filter(({ text }) => wordsOf(text) > maxWords)
      .map((text) => `${where(text)} has ${wordsOf(text.text)} words.\n    ${text.text}`),
    allowance[kind].long,
  ),
})
const counts: Counts = { documents: counted('documents'), messages: counted('messages') }
if (process.argv.includes('--lower') && !failed) writeFileSync(allowanceFile, `${JSON.stringify(counts, null, 2)}\n`)
process.exitCode = failed ? 1 : 0
