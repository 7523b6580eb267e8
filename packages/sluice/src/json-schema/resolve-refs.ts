/**
 * Turns the author's document into schemas without annotations, in which every reference is a key of one map.
 *
 * References are resolved here once, instead of during each validation. A `$dynamicRef` means a different schema
 * depending on the path that led to it, so the schemas around it are resolved once per path.
 */

import { isRule } from './dialects.ts'
import type { Keywords, ResolvedNode } from './keywords.ts'
import { inPlaceKeywords, mapSchemas, rejectSchema } from './keywords.ts'
import type { ParsedNode, ParsedSchema } from './parse.ts'

const maxSubschemas = 10_000
/** Maximum depth of references for the same value, because validation recurses along them. */
const maxInPlace = 100

export interface ResolvedSchema {
  readonly root: string
  /** In these schemas a `$ref` has no siblings, and is a key of this map. */
  readonly schemas: ReadonlyMap<string, ResolvedNode>
}
/** The outermost node of every dynamic anchor. */
type Scope = ReadonlyMap<string, ParsedNode>
interface Target {
  readonly uri: string
  readonly parsed: ParsedSchema
  readonly scope: Scope
}

export function resolveRefs(document: ParsedSchema): ResolvedSchema {
  const targets = new Map<string, Target>()
  const schemas = new Map<string, ResolvedNode>()
  const open = new Set<Target>()
  let remaining = maxSubschemas
  const root = toTarget(document, new Map())
  // Grows during the loop: referenced schemas wait here, unless they apply to the same value.
  for (const target of targets.values()) complete(target)
  return { root: root.uri, schemas }

  function toTarget(parsed: ParsedSchema, outer: Scope): Target {
    const scope = enter(outer, parsed)
    const names = [...scope].map(([anchor, { at }]) => `${anchor} ${at}`)
    const key = [typeof parsed === 'boolean' ? parsed : parsed.at, ...names.sort()].join('\n')
    const target = targets.get(key) ?? { uri: `urn:sluice:${targets.size}`, parsed, scope }
    targets.set(key, target)
    return target
  }

  function complete(target: Target): void {
    if (schemas.has(target.uri)) return
    open.add(target)
    schemas.set(target.uri, emit(target.parsed, target.scope, true))
    open.delete(target)
  }

  /** Emits a schema. `isSameValue` is true while it applies to the same value as the open targets. */
  function emit(parsed: ParsedSchema, outer: Scope, isSameValue: boolean): ResolvedNode {
    if (typeof parsed === 'boolean') return parsed
    if (remaining-- <= 0)
      rejectSchema(parsed.at, `more than ${maxSubschemas} subschemas to follow; split or simplify the schema`)
    const scope = enter(outer, parsed)
    const references = parsed.references.map(([to, dynamicAnchor = '']) => {
      const target = toTarget(scope.get(dynamicAnchor) ?? to, scope)
      if (isSameValue && (open.has(target) || open.size > maxInPlace))
        rejectSchema(
          parsed.at,
          'it refers to itself for the same value, or to too many schemas; put "properties" or "items" between',
        )
      if (isSameValue) complete(target)
      return { $ref: target.uri }
    })
    const rules = Object.fromEntries(Object.entries(parsed.keywords).filter(([keyword]) => isRule(keyword)))
    const { allOf = [], ...node } = mapSchemas(rules as Keywords<ParsedSchema>, (inner, keyword) =>
      emit(inner, scope, isSameValue && inPlaceKeywords.has(keyword)),
    )
    const all = [...allOf, ...references]
    return all.length > 0 ? { ...node, allOf: all } : node
  }
}

/** Adds the dynamic anchors of a resource, unless an outer resource already has the name. */
const enter = (outer: Scope, parsed: ParsedSchema): Scope =>
  typeof parsed === 'boolean' ? outer : new Map([...parsed.resource.dynamicAnchors, ...outer])
