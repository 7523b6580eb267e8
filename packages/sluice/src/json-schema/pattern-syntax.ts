/**
 * Parses an ECMAScript regular expression (flag `u`) into a tree.
 *
 * `new RegExp` has accepted the source before, so only the structure is parsed here. A class, an escape or a literal
 * stays source text. The platform's engine matches it against one character, which takes constant time.
 */

export type PatternNode =
  | { readonly type: 'atom'; readonly source: string }
  | { readonly type: 'assertion'; readonly kind: '^' | '$' | 'b' | 'B' }
  | { readonly type: 'lookahead'; readonly body: PatternNode; readonly negative: boolean }
  | { readonly type: 'sequence'; readonly nodes: readonly PatternNode[] }
  | { readonly type: 'alternatives'; readonly nodes: readonly PatternNode[] }
  | { readonly type: 'repeat'; readonly body: PatternNode; readonly min: number; readonly max: number }

/** Thrown for features that no linear-time engine has. The message completes "the pattern … uses". */
export class UnsupportedPattern extends Error {}

const escapes =
  /\\(?:[pPu]\{[^}]*\}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|x..|c.|.)/suy
const classes = /\[(?:\\.|[^\]\\])*\]/suy
const groups = /\((?:\?(?::|=|!|<=|<!|<[^>]*>|[a-z-]*:))?/suy
const quantifiers = /(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/suy
const anyCharacter = /./suy

/** Parses a pattern. Throws `UnsupportedPattern` for back references, lookbehind and modifiers. */
export function parsePattern(source: string): PatternNode {
  let index = 0
  return parseAlternatives()

  function take(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = index
    const match = expression.exec(source) ?? undefined
    if (match) index += match[0].length
    return match
  }

  function parseAlternatives(): PatternNode {
    const nodes = [parseSequence()]
    while (source[index] === '|') {
      index += 1
      nodes.push(parseSequence())
    }
    return nodes[1] && nodes[0] ? { type: 'alternatives', nodes } : (nodes[0] ?? { type: 'sequence', nodes: [] })
  }

  function parseSequence(): PatternNode {
    const nodes: PatternNode[] = []
    while (index < source.length && source[index] !== '|' && source[index] !== ')') nodes.push(parseTerm())
    return { type: 'sequence', nodes }
  }

  function parseTerm(): PatternNode {
    const body = parseUnit()
    const quantifier = take(quantifiers)
    if (!quantifier) return body
    const [text, min, comma, max] = quantifier
    if (min === undefined)
      return { type: 'repeat', body, min: text[0] === '+' ? 1 : 0, max: text[0] === '?' ? 1 : Infinity }
    return { type: 'repeat', body, min: Number(min), max: max ? Number(max) : comma ? Infinity : Number(min) }
  }

  function parseUnit(): PatternNode {
    const character = source[index]
    if (character === '(') return parseGroup()
    if (character === '^' || character === '$') {
      index += 1
      return { type: 'assertion', kind: character }
    }
    const [text = ''] =
      (character === '\\' ? take(escapes) : character === '[' ? take(classes) : take(anyCharacter)) ?? []
    if (text === '\\b' || text === '\\B') return { type: 'assertion', kind: text === '\\b' ? 'b' : 'B' }
    if (/^\\[1-9k]/.test(text)) throw new UnsupportedPattern('a back reference')
    return { type: 'atom', source: text }
  }

  function parseGroup(): PatternNode {
    const [opening = '('] = take(groups) ?? []
    if (opening === '(?<=' || opening === '(?<!') throw new UnsupportedPattern('a lookbehind')
    if (/^\(\?[a-z-]/.test(opening)) throw new UnsupportedPattern('a modifier')
    const body = parseAlternatives()
    index += 1
    if (opening !== '(?=' && opening !== '(?!') return body
    return { type: 'lookahead', body, negative: opening === '(?!' }
  }
}
