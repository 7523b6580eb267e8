/**
 * Scopes that imply others: a caller with `repo` may do everything that needs `repo:read`. A caller's scopes are
 * expanded once, when it is authenticated, so that no check can forget it.
 */

/**
 * `{ repo: ['repo:read', 'repo:write'] }`: the holder of the key also holds the listed scopes, and those that they
 * imply.
 */
export type ImpliedScopes = { readonly [scope: string]: readonly string[] }

export interface ScopeHierarchy {
  /** Returns the scopes with all that they imply. */
  expand(scopes: ReadonlySet<string>): ReadonlySet<string>
  /**
   * Returns the scopes to request from an authorization server, without those that another one implies. If the caller
   * already has a wider scope, that one is requested, because the new token replaces the old one.
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
        throw new TypeError(`"impliedScopes": "${scope}" and "${narrower}" imply each other; remove one of the two`)
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
