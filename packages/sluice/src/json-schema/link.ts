/**
 * From the author's document to schemas without notes, whose every reference is a key of one map.
 *
 * TypeBox looks every `$ref` up again while checking; here that is done once, at build time. A `$dynamicRef` means a
 * different schema depending on where one comes from, so its surroundings are linked once for each of those ways.
 */

import type { Keywords, Schema } from './keywords.ts'
import { isRule, mapSchemas, refuse, staysInPlace } from './keywords.ts'
import { toRegExp } from './patterns.ts'
import type { Place, Spot } from './survey.ts'
import { survey } from './survey.ts'

const maxLinked = 50_000

export interface Linked {
  readonly root: string
  /** In these a `$ref` stands alone, and is a key of this map. */
  readonly schemas: ReadonlyMap<string, Schema>
}

/** For every dynamic anchor the outermost place that has it. */
type Scope = ReadonlyMap<string, Place>

interface Target {
  readonly uri: string
  readonly at: string
  readonly spot: Spot
  readonly scope: Scope
  /** What it applies to the same value. */
  readonly again: Set<Target>
}

export function link(document: object, format: 'check' | 'note' = 'check'): Linked {
  const targets = new Map<string, Target>()
  const schemas = new Map<string, Schema>()
  let linked = 0
  const root = toTarget(survey(document), new Map())
  // Grows while it is read: what is pointed to waits here, so that recursion goes no deeper than the document.
  for (const target of targets.values()) schemas.set(target.uri, emit(target.spot, target.scope, target, true))
  refuseCircles([...targets.values()])
  return { root: root.uri, schemas }

  function toTarget(spot: Spot, outer: Scope): Target {
    const scope = enter(outer, spot)
    const names = [...scope].map(([anchor, { at }]) => `${anchor} ${at}`)
    const at = typeof spot === 'boolean' ? String(spot) : spot.at
    const key = [at, ...names.sort()].join('\n')
    const target = targets.get(key) ?? { uri: `urn:sluice:${targets.size}`, at, spot, scope, again: new Set() }
    targets.set(key, target)
    return target
  }

  /** `still` as long as it speaks of the value that `from` speaks of. */
  function emit(spot: Spot, outer: Scope, from: Target, still: boolean): Schema {
    if (typeof spot === 'boolean') return spot
    if (++linked > maxLinked)
      refuse(spot.at, `more than ${maxLinked} subschemas once all references are followed; simplify it`)
    const scope = enter(outer, spot)
    const pointers = spot.pointers.map(({ to, anchor = '' }) => {
      const target = toTarget(scope.get(anchor) ?? to, scope)
      if (still) from.again.add(target)
      return { $ref: target.uri }
    })
    const rules = Object.entries(spot.keywords).flatMap(([keyword, value]) => toRule(keyword, value))
    const { allOf = [], ...node } = mapSchemas(Object.fromEntries(rules) as Keywords<Spot>, (inner, _, keyword) =>
      emit(inner, scope, from, still && staysInPlace(keyword)),
    )
    const all = [...allOf, ...pointers]
    return all.length > 0 ? { ...node, allOf: all } : node
  }

  /** Nothing for a note, otherwise what TypeBox is to read. */
  function toRule(keyword: string, value: unknown): [string, unknown][] {
    if (!isRule(keyword) || (keyword === 'format' && format === 'note')) return []
    if (keyword === 'pattern') return [[keyword, toRegExp(String(value))]]
    // TypeBox doubles it in 32 bits. No string is that long.
    if (keyword === 'minLength') return [[keyword, Math.min(Number(value), 2 ** 30 - 1)]]
    return [[keyword, value]]
  }
}

/** Inside a resource its dynamic anchors count, unless an outer resource has the name already. */
function enter(outer: Scope, spot: Spot): Scope {
  if (typeof spot === 'boolean' || spot.resource.dynamicAnchors.size === 0) return outer
  return new Map([...spot.resource.dynamicAnchors, ...outer])
}

/** Takes away what leads to an end, again and again. What is left would go around for ever. */
function refuseCircles(targets: readonly Target[]): void {
  // Backwards, because what is pointed to comes later: most schemas take one round.
  const left = new Set(targets.toReversed())
  for (let before = -1; before !== left.size; ) {
    before = left.size
    for (const target of left) if (![...target.again].some((next) => left.has(next))) left.delete(target)
  }
  const [around] = left
  if (around) refuse(around.at, 'it refers to itself for the same value; put "properties" or "items" between')
}
