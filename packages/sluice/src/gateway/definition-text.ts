/**
 * Writes a definition as lines that a person reads: one member a line, and long texts as they are. Two different
 * definitions never have the same lines, because a reviewer would not see the difference.
 */

import { isObject, parseJson } from '../core/json.ts'
import type { PinnedContent } from './pinned.ts'

/** Returns the lines of a definition. Every member is there, in an order that does not depend on the upstream's. */
export const textLinesOf = ({ definition, fixed }: PinnedContent): readonly string[] => [
  ...membersOf(definition, ''),
  ...(fixed ? ['arguments set by rules:', ...fixed.flatMap((rule) => valueLines('-', rule, '  '))] : []),
]

/** Members that people look for come first. */
const first = ['name', 'title', 'description', 'instructions', 'uriTemplate', 'annotations', 'inputSchema']
const rankOf = (member: string): number => (first.includes(member) ? first.indexOf(member) : first.length)
const byRank = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  rankOf(one) - rankOf(other) || (one < other ? -1 : 1)

const membersOf = (value: { readonly [member: string]: unknown }, indent: string): readonly string[] =>
  Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(byRank)
    .flatMap(([name, member]) => valueLines(`${plainName(name)}:`, member, indent))

function valueLines(label: string, value: unknown, indent: string): readonly string[] {
  const deeper = `${indent}  `
  if (Array.isArray(value) && value.length > 0)
    return [`${indent}${label}`, ...value.flatMap((item) => valueLines('-', item, deeper))]
  if (isObject(value) && Object.keys(value).length > 0) return [`${indent}${label}`, ...membersOf(value, deeper)]
  if (typeof value === 'string' && value.includes('\n'))
    return [`${indent}${label} |`, ...value.split('\n').map((line) => `${deeper}${line}`)]
  return [`${indent}${label} ${typeof value === 'string' ? plainText(value) : JSON.stringify(value)}`]
}

/** Quotes names that could be read as something else. */
const plainName = (name: string): string => (/^[\w$./-]+$/.test(name) ? name : JSON.stringify(name))

/** Quotes texts that look like another value, such as "1" and "true". */
const plainText = (text: string): string =>
  text === '' || text === '|' || parseJson(text) !== undefined ? JSON.stringify(text) : text
