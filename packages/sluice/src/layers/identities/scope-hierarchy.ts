/**
 * Which scope implies which: a caller with `repo` may do whatever needs `repo:read`. A caller's scopes are widened once,
 * when it is identified, so that no check can forget it.
 */

/** `{ repo: ['repo:read', 'repo:write'] }`: the holder of a name holds what stands after it, and what that implies. */
export type ImpliedScopes = { readonly [scope: string]: readonly string[] }

export interface ScopeHierarchy {
  /** The scopes with all that they imply. */
  expand(scopes: ReadonlySet<string>): ReadonlySet<string>
  /**
   * What to ask an authorization server for: no scope that another one implies, and the wider one where the caller has
   * it already, since the new token replaces the old one.
   */
  scopesToRequest(needed: readonly string[], held: ReadonlySet<string>): readonly string[]
}

export function createScopeHierarchy(implied: ImpliedScopes): ScopeHierarchy {
  const reached = new Map<string, ReadonlySet<string>>()
  function reach(scope: string): ReadonlySet<string> {
    const known = reached.get(scope)
    if (known) return known
    const found = new Set([scope])
    for (const each of found)
      for (const narrower of (Object.hasOwn(implied, each) && implied[each]) || []) found.add(narrower)
    return found
  }
  for (const scope of Object.keys(implied)) {
    const found = reach(scope)
    for (const narrower of found)
      if (narrower !== scope && reach(narrower).has(scope))
        throw new TypeError(`impliedScopes: "${scope}" and "${narrower}" imply each other; remove one of the two`)
    reached.set(scope, found)
  }
  const implies = (wide: string, narrow: string): boolean => wide !== narrow && reach(wide).has(narrow)
  const widened = new WeakMap<ReadonlySet<string>, ReadonlySet<string>>()
  return {
    expand(scopes) {
      const known = widened.get(scopes)
      if (known) return known
      const all = new Set([...scopes, ...[...scopes].flatMap((scope) => [...reach(scope)])])
      widened.set(scopes, all)
      return all
    },
    scopesToRequest(needed, held) {
      const named = needed.map((scope) => [...held].find((wider) => implies(wider, scope)) ?? scope)
      return [...new Set(named)].filter((scope) => !named.some((other) => implies(other, scope)))
    },
  }
}
