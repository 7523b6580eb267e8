/**
 * Reads the YAML at the top of a SKILL.md. It leaves as JSON with every field, because clients compare the two.
 *
 * It reads what skills use: maps, lists, plain, quoted and block texts, collections in brackets on one line, comments.
 * Anything else is refused with its line instead of read in another way than a YAML library would. A library is larger
 * than a whole worker, and reads the environment on Deno.
 */

import type { Json, Params } from '../core/json.ts'
import { indentOf, readBlockText } from './yaml-block-text.ts'
import {
  assertKey,
  assertNewKey,
  assertOnlyComment,
  assertPlain,
  maxDepth,
  readFlow,
  readQuoted,
  typed,
  YamlProblem,
} from './yaml-values.ts'

/** Returns the fields. Throws with a message that starts after the name of the file. */
export function parseFrontmatter(markdown: string): Params {
  const yaml = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(markdown)?.[1]
  if (yaml === undefined) throw new TypeError('begin the file with "---", its fields, and another "---"')
  return parseYaml(yaml.replaceAll('\r\n', '\n').split('\n'))
}

const isBlank = (line: string): boolean => /^\s*(?:#.*)?$/.test(line)
const isItem = (text: string): boolean => /^-(?:\s|$)/.test(text)

function parseYaml(lines: readonly string[]): Params {
  let at = 0
  const tab = lines.findIndex((line) => /^ *\t/.test(line))
  if (tab !== -1) throw new TypeError(`line ${tab + 2}: indent with spaces, not tabs`)
  try {
    const first = peek()
    if (first === undefined || isItem(textAt())) throw new YamlProblem('the fields must be "key: value"')
    const fields = readMap(first, 0)
    if (peek() !== undefined) throw new YamlProblem('this line is indented less than the ones before')
    return fields
  } catch (thrown) {
    // The fields begin on the second line of the file.
    if (thrown instanceof YamlProblem)
      throw new TypeError(`line ${Math.min(at, lines.length - 1) + 2}: ${thrown.message}`)
    throw thrown
  }

  /** Skips comments and empty lines. Returns the indentation of the next line, if there is one. */
  function peek(): number | undefined {
    while (at < lines.length && isBlank(lines[at] ?? '')) at++
    const line = lines[at]
    if (line === undefined) return undefined
    return indentOf(line)
  }
  function textAt(): string {
    return (lines[at] ?? '').trim()
  }

  function readMap(indent: number, depth: number): Params {
    if (depth > maxDepth) throw new YamlProblem('too deep')
    const members = new Map<string, Json>()
    for (let next = peek(); next !== undefined && next >= indent; next = peek()) {
      if (next > indent) throw new YamlProblem('this line is indented more than the ones before')
      const field = splitKey(textAt())
      if (!field) throw new YamlProblem('expected "key: value"')
      assertNewKey(members, field.key)
      members.set(field.key, readValue(field.rest, indent, depth, true))
    }
    return Object.fromEntries(members)
  }
  function readList(indent: number, depth: number): readonly Json[] {
    const items: Json[] = []
    for (let next = peek(); next === indent && isItem(textAt()); next = peek()) {
      const rest = textAt().slice(1).trimStart()
      if (isItem(rest) || splitKey(rest)) throw new YamlProblem('begin a map or list inside a list on its own line')
      items.push(readValue(rest, indent, depth, false))
    }
    return items
  }
  /** Reads what follows a key or a dash, on its line and below it. */
  function readValue(rest: string, indent: number, depth: number, isField: boolean): Json {
    if (/^[|>]/.test(rest)) {
      const block = readBlockText(rest, lines.slice(at + 1), indent)
      at += block.count + 1
      return block.text
    }
    if (/^(?:#|$)/.test(rest)) {
      const below = ++at
      const next = peek()
      if (next !== undefined && next > indent) return readBelow(next, indent, depth + 1, at === below)
      if (isField && next === indent && isItem(textAt())) return readList(indent, depth + 1) as Json
      return null
    }
    return readInline(rest, indent)
  }
  function readBelow(next: number, parent: number, depth: number, isAdjacent: boolean): Json {
    const text = textAt()
    if (isItem(text)) {
      const list = readList(next, depth) as Json
      const after = peek()
      if (after !== undefined && after > parent) throw new YamlProblem('this line does not belong to the list')
      return list
    }
    if (splitKey(text)) return readMap(next, depth) as Json
    // Libraries disagree about a comment in between.
    if (!isAdjacent) throw new YamlProblem('put the text on the line of its key, or on the next one')
    return readInline(text, parent)
  }
  /** Reads a value that begins on this line. Only a plain text may go on below. */
  function readInline(text: string, indent: number): Json {
    if (/^['"[{]/.test(text)) {
      const { value, rest } = /^['"]/.test(text) ? readQuoted(text) : readFlow(text)
      assertOnlyComment(rest)
      at++
      return refuseMore(value, indent)
    }
    const first = withoutComment(text)
    let joined = assertPlain(first.text)
    at++
    if (first.hasComment) return refuseMore(typed(joined), indent)
    let empty = 0
    for (; at < lines.length; at++) {
      const line = lines[at] ?? ''
      if (line.trim() === '') empty++
      else if (indentOf(line) <= indent || line.trimStart().startsWith('#')) break
      else {
        const more = withoutComment(line.trim())
        if (/:(?:\s|$)/.test(more.text)) throw new YamlProblem('a text with ": " in it needs quotes')
        joined += (empty > 0 ? '\n'.repeat(empty) : ' ') + more.text
        empty = 0
        if (more.hasComment) {
          at++
          break
        }
      }
    }
    return refuseMore(typed(joined), indent)
  }
  /** After a value that has ended, deeper lines belong to nothing. */
  function refuseMore(value: Json, indent: number): Json {
    const next = peek()
    if (next !== undefined && next > indent) throw new YamlProblem('this line is indented more than the ones before')
    return value
  }
}

function withoutComment(text: string): { readonly text: string; readonly hasComment: boolean } {
  const comment = /\s+#/.exec(text)
  return { text: comment ? text.slice(0, comment.index) : text, hasComment: comment !== null }
}

/** Splits `key: value`; `undefined` if the line has no key. */
function splitKey(text: string): { readonly key: string; readonly rest: string } | undefined {
  if (/^['"]/.test(text)) {
    const { value, rest } = readQuoted(text)
    const after = /^\s*:(?:\s+(.*))?$/.exec(rest)
    return after ? { key: value, rest: after[1] ?? '' } : undefined
  }
  const colon = /:(?:\s|$)/.exec(text)
  if (!colon || /\s#/.test(text.slice(0, colon.index)) || /^[[{]/.test(text)) return undefined
  const key = text.slice(0, colon.index).trim()
  if (!/^[\w$]/.test(key)) throw new YamlProblem(`the key "${key}" must be in quotes`)
  return { key: assertKey(key), rest: text.slice(colon.index + 1).trim() }
}
