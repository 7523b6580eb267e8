/**
 * Parses a document: checks every schema, registers every name and follows every reference, even if no value would
 * reach it. Nothing is fetched, because a schema that could name files and hosts would be a way to read them.
 */

import { isObject } from '../core/json.ts'
import type { Dialect } from './dialects.ts'
import { checkKeywords, dialectOf, draft2020 } from './dialects.ts'
import type { Keywords } from './keywords.ts'
import { mapSchemas, rejectSchema } from './keywords.ts'

/** Maximum levels of JSON, because every reader of a schema recurses. */
const maxNesting = 128

/** The schemas that share an `$id`. */
interface Resource {
  readonly uri: string
  readonly dialect: Dialect
  readonly dynamicAnchors: Map<string, ParsedNode>
}
export interface ParsedNode {
  /** A JSON pointer, unique in the document. */
  readonly at: string
  readonly source: Keywords<unknown>
  readonly keywords: Keywords<ParsedSchema>
  readonly resource: Resource
  /** The targets of `$ref` and `$dynamicRef`. With a dynamic anchor, an outer schema that has it wins. */
  readonly references: (readonly [to: ParsedSchema, dynamicAnchor?: string])[]
}
export type ParsedSchema = boolean | ParsedNode

/** Parses a tree from `JSON.parse`, in which no object occurs twice. */
export function parse(document: unknown): { readonly root: ParsedSchema; readonly dialect: Dialect } {
  const nodes = new Map<unknown, ParsedNode>()
  const byUri = new Map<string, ParsedNode>()
  const dialect =
    isObject(document) && document['$schema'] !== undefined ? dialectOf(document['$schema'], '#') : draft2020
  // A base URI, so that relative names resolve, with a scheme that cannot be fetched.
  const root = visit(document, '#', { uri: 'local:///schema', dialect, dynamicAnchors: new Map() })
  // Grows during the loop, because unknown keywords may contain schemas that were not visited yet.
  for (const { keywords, resource, at, references } of nodes.values()) {
    if (keywords.$ref !== undefined) references.push([locate(keywords.$ref, resource, at)[0]])
    if (keywords.$dynamicRef !== undefined) references.push(locate(keywords.$dynamicRef, resource, at))
  }
  return { root, dialect }

  function visit(schema: unknown, at: string, outer: Resource): ParsedSchema {
    const known = typeof schema === 'boolean' ? schema : nodes.get(schema)
    if (known !== undefined) return known
    if (at.split('/').length > maxNesting + 1)
      rejectSchema(at, `nested deeper than ${maxNesting}; move parts to "$defs"`)
    const dialect =
      isObject(schema) && schema['$schema'] !== undefined ? dialectOf(schema['$schema'], at) : outer.dialect
    checkKeywords(schema, at, dialect)
    const normalized = dialect.normalize(schema)
    const { $id, $anchor, $dynamicAnchor } = normalized
    const isResource = at === '#' || $id !== undefined
    if (!isResource && dialect !== outer.dialect)
      rejectSchema(at, 'another "$schema" needs an "$id" beside it; add one')
    const resource = isResource ? { uri: resolve($id ?? '', outer, at)[0], dialect, dynamicAnchors: new Map() } : outer
    const keywords = mapSchemas(normalized, (inner, keyword, name) =>
      visit(inner, [at, dialect.spelling(keyword, schema), name ?? []].flat().map(escapeToken).join('/'), resource),
    )
    const node: ParsedNode = { at, source: schema, keywords, resource, references: [] }
    nodes.set(schema, node)
    if ($dynamicAnchor !== undefined) resource.dynamicAnchors.set($dynamicAnchor, node)
    for (const name of new Set([isResource ? '' : undefined, $anchor, $dynamicAnchor])) {
      if (name === undefined) continue
      if (byUri.has(`${resource.uri}#${name}`)) rejectSchema(at, `two schemas are named "${name || $id}"; rename one`)
      byUri.set(`${resource.uri}#${name}`, node)
    }
    return node
  }

  function locate(reference: string, from: Resource, at: string): readonly [to: ParsedSchema, dynamicAnchor?: string] {
    const [uri, fragment] = resolve(reference, from, at)
    const start = byUri.get(`${uri}#`)
    if (!start)
      rejectSchema(at, `"${reference}" points outside this document, and nothing is fetched; copy it to "$defs"`)
    const to = /^[^/]/.test(fragment) ? byUri.get(`${uri}#${fragment}`) : descend(start, fragment)
    if (to === undefined) rejectSchema(at, `"${reference}" points to nothing; correct it, or add the schema it names`)
    return start.resource.dynamicAnchors.has(fragment) ? [to, fragment] : [to]
  }

  /**
   * Follows a JSON pointer, through unknown keywords too, because authors keep shared schemas under their own keywords.
   */
  function descend({ source, at, resource }: ParsedNode, pointer: string): ParsedSchema | undefined {
    let found: unknown = source
    for (const token of pointer.split('/').slice(1)) {
      const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
      if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
      found = found[name as keyof typeof found]
      at = `${at}/${escapeToken(name, 1)}`
      resource = nodes.get(found)?.resource ?? resource
    }
    return visit(found, at, resource)
  }
}

/** Escapes a token. The first part of a path is a JSON pointer already. */
const escapeToken = (name: string, index: number): string =>
  index === 0 ? name : name.replaceAll('~', '~0').replaceAll('/', '~1')

function resolve(reference: string, base: Resource, at: string): readonly [uri: string, fragment: string] {
  try {
    const url = new URL(reference, base.uri)
    const fragment = decodeURIComponent(url.hash.slice(1))
    url.hash = ''
    return [url.href, fragment]
  } catch {
    return rejectSchema(at, `"${reference}" is not a URI reference; correct it`)
  }
}
