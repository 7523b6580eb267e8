/**
 * A first look at the document: every schema checked, every name noted, every reference led to its place, also where no
 * value would ever meet it. Nothing is fetched: a schema that could name files and hosts would be a way to read them.
 */

import type { Keywords } from './keywords.ts'
import { checkKeywords, mapSchemas, refuse, toStep } from './keywords.ts'

/** Levels of JSON. Everybody who reads a schema recurses. */
const maxNesting = 128

/** What shares an `$id`. */
interface Resource {
  readonly uri: string
  readonly dynamicAnchors: Map<string, Place>
}
export interface Place {
  /** A JSON pointer, unique in the document. */
  readonly at: string
  readonly source: Keywords<unknown>
  readonly keywords: Keywords<Spot>
  readonly resource: Resource
  /** What `$ref` and `$dynamicRef` lead to. By a dynamic anchor, an outer schema with that anchor goes first. */
  readonly pointers: (readonly [to: Spot, dynamicAnchor?: string])[]
}
export type Spot = boolean | Place

/** The document has to be fresh from `JSON.parse`: a tree, in which no object stands in two places. */
export function survey(document: unknown): Spot {
  const places = new Map<unknown, Place>()
  const byUri = new Map<string, Place>()
  // A base, so that relative names resolve, with a scheme that nothing could fetch.
  const root = visit(document, '#', { uri: 'local:///schema', dynamicAnchors: new Map() })
  // Grows while it is read: below keywords nobody knows there may be schemas that were not visited yet.
  for (const { source, resource, at, pointers } of places.values()) {
    if (source.$ref !== undefined) pointers.push([locate(source.$ref, resource, at)[0]])
    if (source.$dynamicRef !== undefined) pointers.push(locate(source.$dynamicRef, resource, at))
  }
  return root

  function visit(schema: unknown, at: string, outer: Resource): Spot {
    const known = typeof schema === 'boolean' ? schema : places.get(schema)
    if (known !== undefined) return known
    if (at.split('/').length > maxNesting + 1) refuse(at, `nested deeper than ${maxNesting}; move parts to "$defs"`)
    checkKeywords(schema, at)
    const { $id, $anchor, $dynamicAnchor } = schema
    const isResource = at === '#' || $id !== undefined
    const resource = isResource ? { uri: resolve($id ?? '', outer, at)[0], dynamicAnchors: new Map() } : outer
    const keywords = mapSchemas(schema, (inner, path) => visit(inner, at + path, resource))
    const place: Place = { at, source: schema, keywords, resource, pointers: [] }
    places.set(schema, place)
    if ($dynamicAnchor !== undefined) resource.dynamicAnchors.set($dynamicAnchor, place)
    for (const name of new Set([isResource ? '' : undefined, $anchor, $dynamicAnchor])) {
      if (name === undefined) continue
      if (byUri.has(`${resource.uri}#${name}`)) refuse(at, `a second schema is called "${name || $id}"; rename one`)
      byUri.set(`${resource.uri}#${name}`, place)
    }
    return place
  }

  function locate(reference: string, from: Resource, at: string): readonly [to: Spot, dynamicAnchor?: string] {
    const [uri, fragment] = resolve(reference, from, at)
    const start = byUri.get(`${uri}#`)
    if (!start) refuse(at, `"${reference}" points outside this document, and nothing is fetched; copy it to "$defs"`)
    const to = /^[^/]/.test(fragment) ? byUri.get(`${uri}#${fragment}`) : descend(start, fragment)
    if (to === undefined) refuse(at, `"${reference}" points to nothing; correct it, or add what it names`)
    return start.resource.dynamicAnchors.has(fragment) ? [to, fragment] : [to]
  }

  /** Along a JSON pointer. Also through keywords nobody knows: people keep shared schemas in places of their own. */
  function descend({ source, at, resource }: Place, pointer: string): Spot | undefined {
    let found: unknown = source
    for (const token of pointer.split('/').slice(1)) {
      const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
      if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
      found = found[name as keyof typeof found]
      at += toStep(name)
      resource = places.get(found)?.resource ?? resource
    }
    return visit(found, at, resource)
  }
}

function resolve(reference: string, base: Resource, at: string): readonly [uri: string, fragment: string] {
  try {
    const url = new URL(reference, base.uri)
    const fragment = decodeURIComponent(url.hash.slice(1))
    url.hash = ''
    return [url.href, fragment]
  } catch {
    return refuse(at, `"${reference}" is no URI reference; correct it`)
  }
}
