/** Checks the English of documents and messages: no retired phrase, and no sentence of more than 25 words. */

import { globSync, readFileSync } from 'node:fs'
import { sentencesOfMarkdown, sentencesOfSource } from './plain-words/sentences.ts'

const root = new URL('../', import.meta.url).pathname
const maxWords = 25

/** Phrases that make a reader guess, and what to write instead. */
const retired: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\b(?:whoever|whomever|nobody|somebody)\b/i, 'name the subject: "the client", "the caller", "no person"'],
  [/\b(?:is|are|was|were) no (?!longer\b|more than\b|less than\b|larger\b)/i, '"is not a", "has no", or "unknown"'],
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

const documents = globSync(['*.md', 'docs/**/*.md', '{packages,servers}/*/README.md', 'test/README.md'], { cwd: root })
  // The reference is generated from the comments in the sources.
  .filter((file) => !file.startsWith('docs/reference/'))
const sources = globSync('{packages,servers}/*/src/**/*.{ts,tsx}', { cwd: root }).filter(
  (file) => !/\.test\.tsx?$|\.d\.ts$/.test(file),
)
const wordsOf = (sentence: string): number => sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length

function problemsOf(text: string): readonly string[] {
  const phrases = retired.flatMap(([phrase, instead]) => {
    const found = phrase.exec(text)
    return found ? [`says "${found[0].trim()}". Write ${instead}.`] : []
  })
  const words = wordsOf(text)
  return words > maxWords ? [...phrases, `has ${words} words.`] : phrases
}
const check = (files: readonly string[], sentencesOf: typeof sentencesOfMarkdown): readonly string[] =>
  files
    .toSorted()
    .flatMap((file) =>
      sentencesOf(readFileSync(root + file, 'utf8')).flatMap(({ line, text }) =>
        problemsOf(text).map((problem) => `${file}:${line} ${problem}\n    ${text}`),
      ),
    )

const problems = [...check(documents, sentencesOfMarkdown), ...check(sources, sentencesOfSource)]
for (const problem of problems) console.log(problem)
process.exitCode = problems.length === 0 ? 0 : 1
