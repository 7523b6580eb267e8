/**
 * Marks definitions that need a closer look: characters that hide or deceive, and words that tell the model about other
 * tools. A mark is a reason in words. It decides nothing, because descriptions may have good reasons for both.
 */

import { markedPieces } from '../approvals/text/marked-text.ts'
import { isObject } from '../core/json.ts'
import type { UpstreamTool } from './explain.ts'
import type { PinnedDefinition } from './pinned.ts'

const maxMarks = 20
/** Longer texts are searched up to here. */
const maxText = 64 * 1024

/** Returns the marks of a definition. `tools` are those of all upstreams. */
export function marksOf(
  upstream: string,
  definition: PinnedDefinition,
  tools: readonly UpstreamTool[],
): readonly string[] {
  const texts = [...textsIn(definition.content.definition, '')]
  const others = tools.filter(({ tool, upstream: of }) => of !== upstream || tool !== definition.name)
  return [
    ...texts.flatMap(([member, text]) => characterMarks(member, text)),
    ...toolMarks(upstream, texts, others),
    ...texts.flatMap(([member, text]) => phraseMarks(member, text)),
  ].slice(0, maxMarks)
}

/** Yields every text of a definition with its path. Names of members are texts too. */
function* textsIn(value: unknown, path: string): Iterable<readonly [path: string, text: string]> {
  if (typeof value === 'string') yield [path, value.slice(0, maxText)]
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* textsIn(item, `${path}[${index}]`)
  else if (isObject(value))
    for (const [name, member] of Object.entries(value)) {
      if (!/^[\w$.-]+$/.test(name)) yield [`a name in ${path === '' ? 'the definition' : path}`, name]
      yield* textsIn(member, path === '' ? name : `${path}.${name}`)
    }
}

function characterMarks(member: string, text: string): readonly string[] {
  const pieces = text.split(/[\n\t]|\r\n/).flatMap(markedPieces)
  const codesOf = (kind: 'hidden' | 'alike'): readonly string[] => {
    const codes = pieces.flatMap((piece) => {
      if (piece.kind === 'text' || piece.kind !== kind) return []
      return piece.kind === 'alike' && piece.like ? `${piece.code}, like ${piece.like}` : piece.code
    })
    return [...new Set(codes)]
  }
  const [hidden, alike] = [codesOf('hidden'), codesOf('alike')]
  return [
    ...(hidden.length > 0 ? [`${member} has hidden characters: ${hidden.slice(0, 5).join('; ')}`] : []),
    ...(alike.length > 0 ? [`${member} has characters that look like others: ${alike.slice(0, 5).join('; ')}`] : []),
  ]
}

/** Names that are ordinary words, such as `search`, count only in quotes. */
const isOrdinary = (name: string): boolean => /^[A-Za-z]?[a-z]*$/.test(name)

function toolMarks(
  upstream: string,
  texts: readonly (readonly [member: string, text: string])[],
  others: readonly UpstreamTool[],
): readonly string[] {
  const byName = new Map(others.map((other) => [other.tool, other]))
  // On the endpoint for all, models see the names with the prefix.
  for (const other of others) byName.set(`${other.upstream}_${other.tool}`, other)
  const found = new Map<string, string>()
  for (const [member, text] of texts)
    for (const { 0: word, index } of text.matchAll(/[A-Za-z0-9_][A-Za-z0-9_.-]*[A-Za-z0-9_]/g)) {
      const tool = byName.get(word)
      if (!tool || found.has(word)) continue
      if (isOrdinary(word) && !/[`'"]/.test(text[index - 1] ?? '')) continue
      const owner = tool.upstream === upstream ? 'this server' : tool.upstream
      found.set(word, `${member} tells the model about another tool: ${word} of ${owner}`)
    }
  return [...found.values()]
}

/** Phrases of published attacks on tool descriptions. None of them can backtrack. */
const phrases: readonly (readonly [RegExp, string])[] = [
  [/\b(?:any|every|all|each) other tools?\b|\bother tools\b/i, 'tells the model about other tools'],
  [
    /\bbefore (?:using|calling|you (?:use|call)) (?:any|this|every|other)\b/i,
    'tells the model what to do before a call',
  ],
  [
    /\b(?:ignore|disregard|forget) (?:all |any |the )?(?:previous|prior|earlier|above|other)\b/i,
    'tells the model to ignore instructions',
  ],
  [/\b(?:do not|don't|never) (?:tell|mention|show|inform|reveal|notify)\b/i, 'tells the model to hide something'],
  [/<\/?(?:important|system|secret|instructions?|hidden)>/i, 'has a tag that models take for instructions'],
]

const phraseMarks = (member: string, text: string): readonly string[] =>
  phrases.flatMap(([pattern, reason]) => {
    const [phrase] = pattern.exec(text) ?? []
    return phrase === undefined ? [] : [`${member} ${reason}: "${phrase}"`]
  })
