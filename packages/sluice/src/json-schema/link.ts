/**
 * From the author's document to schemas without notes, whose every reference is a key of one map.
 *
 * TypeBox looks every `$ref` up again while checking; here that is done once, at build time. A `$dynamicRef` means a
 * different schema depending on where one comes from, so its surroundings are linked once for each of those ways.
 */

import type { Keywords, Schema } from './keywords.ts'
import { inPlace, isRule, mapSchemas, refuse } from './keywords.ts'
import { toRegExp } from './patterns.ts'
import type { Place, Spot } from './survey.ts'
import { survey } from './survey.ts'

const maxSubschemas = 10_000
/** References that lead on for the same value: engines call as deep as they go. */
const maxInPlace = 100

export interface Linked {
  readonly root: string
  /** In these a `$ref` stands alone, and is a key of this map. */
  readonly schemas: ReadonlyMap<string, Schema>
}
/** For every dynamic anchor the outermost place that has it. */
type Scope = ReadonlyMap<string, Place>
interface Target {
  readonly uri: string
  readonly spot: Spot
  readonly scope: Scope
}

export function link(document: unknown, format: 'check' | 'note' = 'check'): Linked {
  const targets = new Map<string, Target>()
  const schemas = new Map<string, Schema>()
  const open = new Set<Target>()
  let left = maxSubschemas
  const root = toTarget(survey(document), new Map())
  // Grows while it is read: what is pointed to waits here, unless it is about the same value.
  for (const target of targets.values()) complete(target)
  return { root: root.uri, schemas }

  function toTarget(spot: Spot, outer: Scope): Target {
    const scope = enter(outer, spot)
    const names = [...scope].map(([anchor, { at }]) => `${anchor} ${at}`)
    const key = [typeof spot === 'boolean' ? spot : spot.at, ...names.sort()].join('\n')
    const target = targets.get(key) ?? { uri: `urn:sluice:${targets.size}`, spot, scope }
    targets.set(key, target)
    return target
  }

  function complete(target: Target): void {
    if (schemas.has(target.uri)) return
    open.add(target)
    schemas.set(target.uri, emit(target.spot, target.scope, true))
    open.delete(target)
  }

  /** `still` as long as it speaks of the same value as the targets that are open. */
  function emit(spot: Spot, outer: Scope, still: boolean): Schema {
    if (typeof spot === 'boolean') return spot
    if (left-- <= 0) refuse(spot.at, `more than ${maxSubschemas} subschemas to follow; split or simplify the schema`)
    const scope = enter(outer, spot)
    const pointers = spot.pointers.map(([to, dynamicAnchor = '']) => {
      const target = toTarget(scope.get(dynamicAnchor) ?? to, scope)
      if (still && (open.has(target) || open.size > maxInPlace))
        refuse(spot.at, 'it refers to itself for the same value, or to too much; put "properties" or "items" between')
      if (still) complete(target)
      return { $ref: target.uri }
    })
    const rules = Object.entries(spot.keywords).flatMap(toRule)
    const { allOf = [], ...node } = mapSchemas(Object.fromEntries(rules) as Keywords<Spot>, (inner, _, keyword) =>
      emit(inner, scope, still && inPlace.has(keyword)),
    )
    const all = [...allOf, ...pointers]
    return all.length > 0 ? { ...node, allOf: all } : node
  }

  /** Nothing for a note, otherwise what TypeBox is to read. */
  function toRule([keyword, value]: [string, unknown]): [string, unknown][] {
    if (!isRule(keyword) || (keyword === 'format' && format === 'note')) return []
    if (keyword === 'pattern') return [[keyword, toRegExp(String(value))]]
    // TypeBox doubles it in 32 bits. No string is that long.
    if (keyword === 'minLength') return [[keyword, Math.min(Number(value), 2 ** 30 - 1)]]
    return [[keyword, value]]
  }
}

/** Inside a resource its dynamic anchors count, unless an outer resource has the name already. */
const enter = (outer: Scope, spot: Spot): Scope =>
  typeof spot === 'boolean' ? outer : new Map([...spot.resource.dynamicAnchors, ...outer])
