/** Values of the YAML subset that stand on one line: plain and quoted scalars, and flow collections. */

import type { Json } from '../core/json.ts'

/** A reason why a text is outside of the subset; the caller adds the line. */
export class YamlProblem extends Error {}

const numbers: readonly RegExp[] = [
  /^[-+]?[0-9]+$/,
  /^0o[0-7]+$/,
  /^0x[0-9a-fA-F]+$/,
  /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/,
]

/** Gives a plain scalar its type, by the core schema of YAML 1.2. */
export function typed(text: string): Json {
  if (/^(?:|~|null|Null|NULL)$/.test(text)) return null
  if (/^(?:true|True|TRUE)$/.test(text)) return true
  if (/^(?:false|False|FALSE)$/.test(text)) return false
  if (/^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/.test(text)) throw new YamlProblem(`${text} is not a JSON value`)
  if (!numbers.some((number) => number.test(text))) return text
  const value = Number(text)
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
    throw new YamlProblem(`${text} is too large a number; write it in quotes`)
  return value
}

/** Refuses characters that mean something else at the start of a plain scalar, such as `&` and `*`. */
export function assertPlain(text: string): string {
  if (/^(?:[[\]{},#&*!|>'"%@`]|[-?:](?:\s|$))/.test(text))
    throw new YamlProblem(`"${text[0]}" cannot begin a text here; write the text in quotes`)
  if (/:(?:\s|$)/.test(text)) throw new YamlProblem('a text with ": " in it needs quotes')
  return text
}

/** Refuses a comment that is not one. Returns what a comment leaves. */
export function assertOnlyComment(rest: string): void {
  if (!/^\s*$|^\s+#/.test(rest)) throw new YamlProblem('text follows the value; write all of it in quotes')
}

const escapes: { readonly [letter: string]: string } = {
  ...{ '"': '"', '\\': '\\', '/': '/', ' ': ' ', '0': '\0', a: '\u0007', b: '\b', t: '\t', n: '\n' },
  ...{ v: '\v', f: '\f', r: '\r', e: '\u001b' },
}

export function readQuoted(text: string): { readonly value: string; readonly rest: string } {
  const single = /^'((?:[^']|'')*)'/.exec(text)
  if (single) return { value: (single[1] ?? '').replaceAll("''", "'"), rest: text.slice(single[0].length) }
  const double = /^"((?:[^"\\]|\\.)*)"/.exec(text)
  if (!double) throw new YamlProblem('a quoted text must end on the line where it begins')
  const value = (double[1] ?? '').replace(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))/g,
    (escape, hex?: string, unicode?: string, letter?: string) => {
      const code = hex ?? unicode
      if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
      const plain = letter === undefined ? undefined : escapes[letter]
      if (plain === undefined) throw new YamlProblem(`${escape} is not an escape that is read here`)
      return plain
    },
  )
  return { value, rest: text.slice(double[0].length) }
}

interface Flow {
  readonly value: Json
  readonly rest: string
}

/** Reads a value of a flow collection: `[a, 'b']`, `{ a: 1 }`, or a scalar in one. */
export function readFlow(text: string, depth = 0): Flow {
  if (depth > maxDepth) throw new YamlProblem('too deep')
  if (/^['"]/.test(text)) return readQuoted(text)
  if (text.startsWith('[')) return readItems(text, depth)
  if (text.startsWith('{')) return readMembers(text, depth)
  const plain = /^[^,[\]{}]*/.exec(text)?.[0] ?? ''
  if (/\s#/.test(plain)) throw unclosed()
  return { value: typed(assertPlain(plain.trim())), rest: text.slice(plain.length) }
}

function readItems(text: string, depth: number): Flow {
  const items: Json[] = []
  let rest = text.slice(1).trimStart()
  while (!rest.startsWith(']')) {
    if (/^(?:,|$)/.test(rest)) throw unclosed()
    const item = readFlow(rest, depth + 1)
    items.push(item.value)
    rest = afterItem(item.rest, ']')
  }
  return { value: items, rest: rest.slice(1) }
}

function readMembers(text: string, depth: number): Flow {
  const members = new Map<string, Json>()
  let rest = text.slice(1).trimStart()
  while (!rest.startsWith('}')) {
    const { key, rest: after } = readFlowKey(rest)
    assertNewKey(members, key)
    const isEmpty = /^[,}]/.test(after)
    const member = isEmpty ? { value: null, rest: after } : readFlow(after, depth + 1)
    members.set(key, member.value)
    rest = afterItem(member.rest, '}')
  }
  return { value: Object.fromEntries(members), rest: rest.slice(1) }
}

function readFlowKey(text: string): { readonly key: string; readonly rest: string } {
  const quoted = /^['"]/.test(text) ? readQuoted(text) : undefined
  const plain = quoted ? undefined : /^([\w$][^,[\]{}:#]*):(?=[\s,}]|$)/.exec(text)
  const rest = quoted ? /^\s*:(.*)$/.exec(quoted.rest)?.[1] : plain && text.slice(plain[0].length)
  if (rest === undefined || rest === null) throw new YamlProblem('expected "key: value" between the braces')
  return { key: quoted ? quoted.value : assertKey((plain?.[1] ?? '').trim()), rest: rest.trimStart() }
}

function afterItem(text: string, end: string): string {
  const rest = text.trimStart()
  if (rest.startsWith(end)) return rest
  if (!rest.startsWith(',')) throw unclosed()
  return rest.slice(1).trimStart()
}

const unclosed = (): YamlProblem => new YamlProblem('a list or map in brackets must end on the line where it begins')
export const maxDepth = 32

/** Refuses keys that YAML does not take for texts. */
export function assertKey(key: string): string {
  if (typeof typed(key) !== 'string') throw new YamlProblem(`the key "${key}" must be in quotes`)
  return key
}

/** Refuses a key that the map has, and `__proto__`. Clients refuse it, because a careless parser would make it the prototype. */
export function assertNewKey(members: ReadonlyMap<string, unknown>, key: string): void {
  if (key === '__proto__') throw new YamlProblem('"__proto__" is not a name for a field')
  if (members.has(key)) throw new YamlProblem(`"${key}" is there twice`)
}
