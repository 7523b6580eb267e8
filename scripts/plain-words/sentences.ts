/** Finds the sentences that people read: in Markdown outside of code, and in the strings of a program. */

export interface Sentence {
  readonly line: number
  readonly text: string
}

/** A full stop ends a sentence if a space and no small letter follow it, so that `e.g. this` is not an end. */
const ends = /(?<=[.!?]["')*_]*)\s+(?=["'(*_[`]*[\p{Lu}\p{N}`])/u
const split = (text: string, line: number): readonly Sentence[] =>
  text
    .split(ends)
    .map((part) => ({ line, text: part.trim() }))
    .filter((sentence) => sentence.text !== '')

/** Code is one word, and of a link only its text is read. */
const readable = (text: string): string =>
  text
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/``?[^`]*`?`/g, (code) => code.replaceAll(/\s+/g, '_'))

/** A table cell, a heading and an item of a list each begin a new text. A column headed "test" holds names of tests. */
export function sentencesOfMarkdown(markdown: string): readonly Sentence[] {
  const found: Sentence[] = []
  let paragraph: { line: number; lines: string[] } | undefined
  let isCode = false
  let columns: number | undefined
  const close = (): void => {
    if (paragraph) found.push(...split(readable(paragraph.lines.join(' ')), paragraph.line))
    paragraph = undefined
  }
  for (const [index, raw] of markdown.split('\n').entries()) {
    const text = raw.trim()
    const line = index + 1
    if (text.startsWith('```')) {
      close()
      isCode = !isCode
    } else if (!isCode) {
      if (text === '' || /^([|#>]|[-*] |\d+\. )/.test(text)) close()
      if (!text.startsWith('|')) columns = undefined
      if (text.startsWith('|')) {
        const cells = readable(text).split(/(?<!\\)\|/)
        columns ??= text.endsWith('| test |') ? -2 : cells.length
        for (const cell of cells.slice(0, columns)) found.push(...split(cell, line))
      } else if (text !== '') {
        paragraph ??= { line, lines: [] }
        paragraph.lines.push(text.replace(/^([#>]+|[-*] |\d+\. )\s*/, ''))
      }
    }
  }
  close()
  return found
}

/** Comments are skipped, so that a quote in one does not begin a string. `${…}` in a template counts as one word. */
const tokens =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|(?<=[(,=:[!&|?{};\n]\s*)\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g

/** A message has at least three words. Shorter strings are names, and long ones without any punctuation are data. */
export const sentencesOfSource = (source: string): readonly Sentence[] =>
  [...source.matchAll(tokens)]
    .filter(([token]) => /^['"`]/.test(token))
    .flatMap(({ 0: token, index }) => {
      const text = token
        .slice(1, -1)
        .replaceAll(/\$\{[^}]*\}/g, '…x')
        .replaceAll(/\\n/g, '\n')
        .replaceAll(/\\(.)/g, '$1')
      const words = text.split(/\s+/).length
      if (words < 3 || (words > 15 && !/[\p{Lu},.:;]/u.test(text))) return []
      const line = source.slice(0, index).split('\n').length
      return text.split('\n').flatMap((row) => split(row, line))
    })
