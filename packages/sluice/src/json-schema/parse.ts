/**
 * Reads a document: checks every schema, notes every name and follows every reference, also where no value would ever
 * meet it. Nothing is fetched: a schema that could name files and hosts would be a way to read them.
 */

import { isObject } from '../core/json.ts'
import type { Dialect } from './dialects.ts'
import { checkKeywords, dialectOf, draft2020 } from './dialects.ts'
import type { Keywords } from './keywords.ts'
import { mapSchemas, rejectSchema } from './keywords.ts'

/** Levels of JSON. Every reader of a schema recurses. */
const maxNesting = 128

/** The schemas that share an `$id`. */
interface Resource {
  readonly uri: string
  readonly dialect: Dialect
  readonly dynamicAnchors: Map<string, ParsedNode>
}
/** One schema of the document. */
export interface ParsedNode {
  /** A JSON pointer, unique in the document. */
  readonly at: string
  readonly source: Keywords<unknown>
  readonly keywords: Keywords<ParsedSchema>
  readonly resource: Resource
  /** What `$ref` and `$dynamicRef` lead to. With a dynamic anchor, an outer schema that has it comes first. */
  readonly references: (readonly [to: ParsedSchema, dynamicAnchor?: string])[]
}
export type ParsedSchema = boolean | ParsedNode

/** Parses a tree fresh from `JSON.parse`, in which no object stands in two places. */
export function parse(document: unknown): { readonly root: ParsedSchema; readonly dialect: Dialect } {
  const places = new Map<unknown, ParsedNode>()
  const byUri = new Map<string, ParsedNode>()
  const dialect =
    isObject(document) && document['$schema'] !== undefined ? dialectOf(document['$schema'], '#') : draft2020
  // A base, so that relative names resolve, with a scheme that nothing could fetch.
  const root = visit(document, '#', { uri: 'local:///schema', dialect, dynamicAnchors: new Map() })
  // Grows while it is read: below unknown keywords there may be schemas that were not visited yet.
  for (const { keywords, resource, at, references } of places.values()) {
    if (keywords.$ref !== undefined) references.push([locate(keywords.$ref, resource, at)[0]])
    if (keywords.$dynamicRef !== undefined) references.push(locate(keywords.$dynamicRef, resource, at))
  }
  return { root, dialect }

  function visit(schema: unknown, at: string, outer: Resource): ParsedSchema {
    const known = typeof schema === 'boolean' ? schema : places.get(schema)
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
    const place: ParsedNode = { at, source: schema, keywords, resource, references: [] }
    places.set(schema, place)
    if ($dynamicAnchor !== undefined) resource.dynamicAnchors.set($dynamicAnchor, place)
    for (const name of new Set([isResource ? '' : undefined, $anchor, $dynamicAnchor])) {
      if (name === undefined) continue
      if (byUri.has(`${resource.uri}#${name}`))
        rejectSchema(at, `a second schema is called "${name || $id}"; rename one`)
      byUri.set(`${resource.uri}#${name}`, place)
    }
    return place
  }

  function locate(reference: string, from: Resource, at: string): readonly [to: ParsedSchema, dynamicAnchor?: string] {
    const [uri, fragment] = resolve(reference, from, at)
    const start = byUri.get(`${uri}#`)
    if (!start)
      rejectSchema(at, `"${reference}" points outside this document, and nothing is fetched; copy it to "$defs"`)
    const to = /^[^/]/.test(fragment) ? byUri.get(`${uri}#${fragment}`) : descend(start, fragment)
    if (to === undefined) rejectSchema(at, `"${reference}" points to nothing; correct it, or add what it names`)
    return start.resource.dynamicAnchors.has(fragment) ? [to, fragment] : [to]
  }

  /** Follows a JSON pointer, through unknown keywords too: people keep shared schemas in places of their own. */
  function descend({ source, at, resource }: ParsedNode, pointer: string): ParsedSchema | undefined {
    let found: unknown = source
    for (const token of pointer.split('/').slice(1)) {
      const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
      if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
      found = found[name as keyof typeof found]
      at = `${at}/${escapeToken(name, 1)}`
      resource = places.get(found)?.resource ?? resource
    }
    return visit(found, at, resource)
  }
}

/** The first part of a path is a JSON pointer already. */
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
