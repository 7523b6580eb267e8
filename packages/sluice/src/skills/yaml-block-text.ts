/** Block texts of YAML: `|` keeps lines, `>` joins them, and `-` drops the last line end. */

import { YamlProblem } from './yaml-values.ts'

/** `header` begins with `|` or `>`; `below` are the lines after it; `indent` is that of the key. */
export function readBlockText(
  header: string,
  below: readonly string[],
  indent: number,
): { readonly text: string; readonly count: number } {
  const [, style, chomp] = /^([|>])(-?)(?:\s+#.*|\s*)$/.exec(header) ?? []
  if (style === undefined) throw new YamlProblem(`"${header}" is not read here; use |, >, |- or >-`)
  let count = below.findIndex((line) => line.trim() !== '' && indentOf(line) <= indent)
  if (count === -1) count = below.length
  const content = below.slice(0, count)
  const inner = indentOf(content.find((line) => line.trim() !== '') ?? '')
  const isStray = (line: string): boolean => indentOf(line) < inner && line.trim() !== ''
  const firstText = content.findIndex((line) => line.trim() !== '')
  if (content.some(isStray)) throw new YamlProblem('a line of the text is indented less than its first line')
  if (content.slice(0, Math.max(0, firstText)).some((line) => line.length > inner))
    throw new YamlProblem('an empty line before the text is longer than its indentation')
  const lines = content.map((line) => line.slice(inner))
  while (lines.length > 0 && lines.at(-1) === '') lines.pop()
  // A line of spaces at the end would be part of the text to some readers, and not to others.
  if (lines.at(-1)?.trim() === '') throw new YamlProblem('remove the spaces on the empty lines after the text')
  const text = style === '|' ? lines.join('\n') : fold(lines)
  return { text: lines.length > 0 && chomp === '' ? `${text}\n` : text, count }
}

/** Joins lines with spaces. Empty lines are line ends, and lines that are indented more stay as they are. */
function fold(lines: readonly string[]): string {
  let text = ''
  let separator = ''
  let wasDeeper = false
  for (const line of lines) {
    const isDeeper = line.startsWith(' ')
    if (line === '') {
      if (separator === '\n' || text === '') text += '\n'
      else separator = '\n'
      continue
    }
    if (isDeeper) {
      if (separator === ' ') separator = '\n'
      else if (!wasDeeper && separator === '\n') separator = '\n\n'
    }
    text += separator + line
    separator = isDeeper ? '\n' : ' '
    wasDeeper = isDeeper
  }
  return text
}

export const indentOf = (line: string): number => line.length - line.trimStart().length
