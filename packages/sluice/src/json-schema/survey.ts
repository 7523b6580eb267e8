/**
 * A first look at the whole document: every schema checked, every name noted, every reference led to its place, also
 * those that no value would ever meet.
 *
 * Nothing is fetched. A schema that could name files and hosts would be a way to read them.
 */

import type { Keywords } from './keywords.ts'
import { checkKeywords, mapSchemas, refuse, toStep } from './keywords.ts'

/** Levels of JSON. Everybody who reads a schema recurses. */
const maxNesting = 128

export type Spot = boolean | Place
export interface Place {
  /** A JSON pointer, unique in the document. */
  readonly at: string
  readonly source: Keywords<unknown>
  readonly keywords: Keywords<Spot>
  /** The URI that names in it are relative to. */
  readonly base: string
  /** Of all that shares this base. */
  readonly dynamicAnchors: Map<string, Place>
  /** What `$ref` and `$dynamicRef` lead to; by a dynamic anchor, an outer schema with that anchor goes first. */
  readonly pointers: (readonly [to: Spot, dynamicAnchor?: string])[]
}

/** The document has to be fresh from `JSON.parse`: a tree, in which no object stands in two places. */
export function survey(document: unknown): Spot {
  const places = new Map<unknown, Place>()
  const byUri = new Map<string, Place>()
  // A base, so that relative names resolve, with a scheme that nothing could fetch.
  const root = visit(document, '#', { base: 'local:///schema', dynamicAnchors: new Map() })
  // Grows while it is read: below keywords nobody knows there may be schemas that were not visited yet.
  for (const place of places.values()) {
    const { $ref, $dynamicRef } = place.source
    if ($ref !== undefined) place.pointers.push([locate($ref, place).to])
    if ($dynamicRef === undefined) continue
    const { to, start, fragment } = locate($dynamicRef, place)
    place.pointers.push(start.dynamicAnchors.has(fragment) ? [to, fragment] : [to])
  }
  return root

  function visit(schema: unknown, at: string, outer: Pick<Place, 'base' | 'dynamicAnchors'>): Spot {
    const known = typeof schema === 'boolean' ? schema : places.get(schema)
    if (known !== undefined) return known
    if (at.split('/').length > maxNesting + 1) refuse(at, `nested deeper than ${maxNesting}; move parts to "$defs"`)
    checkKeywords(schema, at)
    const { $id, $anchor, $dynamicAnchor } = schema
    const isNew = at === '#' || $id !== undefined
    const base = isNew ? resolve($id ?? '', outer.base, at).uri : outer.base
    const dynamicAnchors = isNew ? new Map<string, Place>() : outer.dynamicAnchors
    const keywords = mapSchemas(schema, (inner, path) => visit(inner, at + path, { base, dynamicAnchors }))
    const place: Place = { at, source: schema, keywords, base, dynamicAnchors, pointers: [] }
    places.set(schema, place)
    if ($dynamicAnchor !== undefined) dynamicAnchors.set($dynamicAnchor, place)
    for (const fragment of new Set([isNew ? '' : undefined, $anchor, $dynamicAnchor])) {
      if (fragment === undefined) continue
      if (byUri.has(`${base}#${fragment}`)) refuse(at, `a second schema is called "${fragment || $id}"; rename one`)
      byUri.set(`${base}#${fragment}`, place)
    }
    return place
  }

  function locate(reference: string, { base, at }: Place): { to: Spot; start: Place; fragment: string } {
    const { uri, fragment } = resolve(reference, base, at)
    const start = byUri.get(`${uri}#`)
    if (!start)
      refuse(at, `"${reference}" points outside this document, and nothing is fetched; copy what it names to "$defs"`)
    const to = /^[^/]/.test(fragment) ? byUri.get(`${uri}#${fragment}`) : descend(start, fragment)
    if (to === undefined) refuse(at, `"${reference}" points to nothing; correct it, or add what it names`)
    return { to, start, fragment }
  }

  /** Along a JSON pointer. Also through keywords nobody knows: people keep shared schemas in places of their own. */
  function descend(start: Place, pointer: string): Spot | undefined {
    let [found, at, outer]: [unknown, string, Place] = [start.source, start.at, start]
    for (const token of pointer.split('/').slice(1)) {
      const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
      if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
      found = found[name as keyof typeof found]
      at += toStep(name)
      outer = places.get(found) ?? outer
    }
    return visit(found, at, outer)
  }
}

function resolve(reference: string, base: string, at: string): { readonly uri: string; readonly fragment: string } {
  try {
    const { href, hash } = new URL(reference, base)
    return {
      uri: href.slice(0, href.length - hash.length).replace(/#$/, ''),
      fragment: decodeURIComponent(hash.slice(1)),
    }
  } catch {
    return refuse(at, `"${reference}" is no URI reference; correct it`)
  }
}
