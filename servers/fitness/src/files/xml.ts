/** Parses XML as plain data: without entity declarations, files or network access, and with bounded depth. */

import { XMLParser } from 'fast-xml-parser'
import { UnreadableFile } from './read.ts'

export interface Node {
  readonly [name: string]: unknown
}

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  removeNSPrefix: true,
  parseTagValue: false,
  parseAttributeValue: false,
  processEntities: false,
  trimValues: true,
})

export function readXml(name: string, text: string): Node {
  // A document that declares entities is an attack, not an activity.
  if (/<!(DOCTYPE|ENTITY)/i.test(text)) throw new UnreadableFile(`${name}: document type declarations are not allowed`)
  try {
    return parser.parse(text) as Node
  } catch {
    throw new UnreadableFile(`${name}: not well-formed XML`)
  }
}

export const childOf = (node: unknown, name: string): unknown => (isNode(node) ? node[name] : undefined)
export const listOf = (value: unknown): readonly unknown[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value]
export const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value
  const inner = childOf(value, '#text')
  return typeof inner === 'string' ? inner : ''
}
export function numberOf(value: unknown): number | undefined {
  const text = textOf(value)
  const number = Number(text)
  return text === '' || !Number.isFinite(number) ? undefined : number
}
/** Returns milliseconds since the epoch. A time without a zone is UTC, not the time of this machine. */
export const timeOf = (text: string): number =>
  Date.parse(text.includes(':') && !/(?:Z|[+-]\d\d:?\d\d)$/i.test(text) ? `${text}Z` : text)
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Finds the first node of that name at any depth, because extensions differ in their nesting. */
export function findDeep(node: unknown, name: string, depth = 6): unknown {
  if (!isNode(node) || depth === 0) return undefined
  if (node[name] !== undefined) return node[name]
  for (const child of Object.values(node)) {
    const found = findDeep(child, name, depth - 1)
    if (found !== undefined) return found
  }
  return undefined
}

export const average = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : Math.round(values.reduce((sum, value) => sum + value, 0) / values.length)
export const highest = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : values.reduce((a, b) => Math.max(a, b))
