/** Finds the functions and classes of one source file, with their text and the names that they call. */

import type { Language } from './languages.ts'

export interface CodeSymbol {
  readonly kind: 'function' | 'class'
  readonly name: string
  /** Counted from 1. */
  readonly line: number
  readonly text: string
  /** Names that are followed by an open bracket. */
  readonly calls: readonly string[]
}

/** Minified code has longer lines, and patterns would take long on them. */
const maxLineLength = 400
/** Lines of one symbol; the rest of a longer one is not stored. */
const maxLines = 200
const maxCalls = 100
/** Lines between two pauses, so that a large file does not block the event loop. */
const stepLines = 200

/** A symbol ends where the next one begins, so a class holds what stands before its first method. */
export async function symbolsOf(
  text: string,
  { definitions, name: language }: Language,
): Promise<{ readonly symbols: readonly CodeSymbol[]; readonly lines: number }> {
  const lines: string[] = []
  const starts: Pick<CodeSymbol, 'kind' | 'name' | 'line'>[] = []
  for (const line of linesOf(text)) {
    const index = lines.push(line) - 1
    if (index % stepLines === stepLines - 1) await pause()
    if (line.length > maxLineLength) continue
    for (const { kind, pattern } of definitions) {
      const name = pattern.exec(line)?.[1]
      if (name === undefined) continue
      starts.push({ kind, name, line: index + 1 })
      break
    }
  }
  const symbols: CodeSymbol[] = []
  for (const [at, start] of starts.entries()) {
    if (at % 100 === 99) await pause()
    const end = Math.min((starts[at + 1]?.line ?? lines.length + 1) - 1, start.line - 1 + maxLines)
    const body = lines.slice(start.line - 1, end).map((line) => line.slice(0, maxLineLength))
    symbols.push({ ...start, text: body.join('\n').trimEnd(), calls: callsIn(body.slice(1), start.name, language) })
  }
  return { symbols, lines: lines.length }
}

/** A line break ends a line, so that none follows the last one. */
function* linesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from)
    const until = end === -1 ? text.length : end
    yield text.slice(from, text[until - 1] === '\r' && until > from ? until - 1 : until)
    from = until + 1
  }
}

function callsIn(lines: readonly string[], own: string, language: string): readonly string[] {
  const calls = new Set<string>()
  const call = language === 'lisp' ? /\(([^\s()'"]+)/g : /([\w$]+)\(/g
  for (const line of lines) for (const [, name] of line.matchAll(call)) if (name && name !== own) calls.add(name)
  return [...calls].slice(0, maxCalls)
}

const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
