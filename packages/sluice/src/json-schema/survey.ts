/**
 * A first look at the whole document: every schema checked, every name noted, every reference led to its place, also
 * those that no value would ever meet.
 *
 * Nothing is fetched. A schema that could name files and hosts would be a way to read them.
 */

import type { Keywords } from './keywords.ts'
import { checkKeywords, mapSchemas, refuse, toStep } from './keywords.ts'

/** Levels of JSON, constants and notes included: whoever reads them recurses. */
const maxNesting = 128

export type Spot = boolean | Place
export interface Place {
  /** A JSON pointer, unique in the document. */
  readonly at: string
  readonly source: Keywords<unknown>
  readonly keywords: Keywords<Spot>
  readonly resource: Resource
  /** What `$ref` and `$dynamicRef` lead to. */
  readonly pointers: Pointer[]
}
/** What shares an `$id`. */
interface Resource {
  readonly uri: string
  readonly dynamicAnchors: Map<string, Place>
}
interface Pointer {
  readonly to: Spot
  /** Set where a dynamic anchor was named: an outer schema with that anchor goes first. */
  readonly anchor?: string
}

/** The document has to be fresh from `JSON.parse`: a tree, in which no object stands in two places. */
export function survey(document: unknown): Spot {
  if (isDeeper(document, maxNesting)) refuse('#', `nested deeper than ${maxNesting}; move parts to "$defs"`)
  const places = new Map<unknown, Place>()
  const byUri = new Map<string, Place>()
  // A base, so that relative names resolve, with a scheme that nothing could fetch.
  const root = visit(document, '#', { uri: 'local:///schema', dynamicAnchors: new Map() })
  // Grows while it is read: below keywords nobody knows there may be schemas that were not visited yet.
  for (const { source, resource, pointers, at } of places.values()) {
    if (source.$ref !== undefined) pointers.push({ to: locate(source.$ref, resource, at).to })
    if (source.$dynamicRef !== undefined) pointers.push(locate(source.$dynamicRef, resource, at))
  }
  return root

  function visit(schema: unknown, at: string, outer: Resource): Spot {
    const known = typeof schema === 'boolean' ? schema : places.get(schema)
    if (known !== undefined) return known
    checkKeywords(schema, at)
    const { $id = at === '#' ? '' : undefined, $anchor, $dynamicAnchor } = schema
    const resource = $id === undefined ? outer : { uri: resolve($id, outer, at).uri, dynamicAnchors: new Map() }
    const keywords = mapSchemas(schema, (inner, path) => visit(inner, at + path, resource))
    const place: Place = { at, source: schema, keywords, resource, pointers: [] }
    places.set(schema, place)
    if ($dynamicAnchor !== undefined) resource.dynamicAnchors.set($dynamicAnchor, place)
    const names = new Set([$id && '', $anchor, $dynamicAnchor])
    return place
  }
}
