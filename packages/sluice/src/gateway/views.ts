/**
 * What single callers see of an endpoint, if rules or profiles name tenants or callers. Callers for whom the same rules
 * match share one compiled registry. The code comes with the definition, so that a server without views carries none.
 */

import type { Call } from '../core/call.ts'
import type { Era } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import type { DefinitionViews, ServerDefinition } from '../protocol/definition.ts'
import type { Profiles } from './profiles.ts'
import type { Audience } from './rules.ts'
import { audienceOf, matchesAudience, namesCaller } from './rules.ts'
import type { Upstream } from './types.ts'

type Selector = (audience: Audience) => boolean

/** Beyond it the oldest view is forgotten and compiled again when it is needed. */
const maxViews = 200

/** Returns what tells callers apart: one function per rule or profile that names tenants or callers. */
export const selectorsOf = (upstreams: readonly Upstream[], profiles: Profiles): readonly Selector[] => [
  ...upstreams
    .flatMap(({ rules = [] }) => rules)
    .filter(({ tenants, callers }) => tenants !== undefined || callers !== undefined)
    .map(
      (rule): Selector =>
        (audience) =>
          matchesAudience(rule, audience),
    ),
  ...Object.values(profiles).flatMap(({ callers }): readonly Selector[] =>
    callers === undefined ? [] : [(audience) => namesCaller(callers, audience)],
  ),
]

/** Makes the views of an endpoint. `compile` returns the definition as a caller sees it. */
export function createViews(
  selectors: readonly Selector[],
  version: string,
  compile: (audience: Audience) => ServerDefinition,
): DefinitionViews {
  return {
    version,
    extendRegistry(registry, compileView) {
      type Viewed = typeof registry
      const registries = new Map<string, Viewed>()
      function registryOf(call: Call): Viewed {
        const audience = audienceOf(call)
        const key = selectors.map((matches) => Number(matches(audience))).join('')
        if (!key.includes('1')) return registry
        const known = registries.get(key)
        if (known) return known
        const made = compileView(compile(audience))
        if (registries.size >= maxViews) for (const oldest of registries.keys()) if (registries.delete(oldest)) break
        registries.set(key, made)
        return made
      }
      return {
        ...registry,
        refusal: (call: Call) => registryOf(call).refusal(call),
        resolve(method: string, params: Params, era: Era) {
          const found = registry.resolve(method, params, era)
          return {
            ...found,
            find(call: Call) {
              const view = registryOf(call)
              const seen = view === registry ? found : view.resolve(method, params, era)
              return seen.find?.(call) ?? seen.target
            },
          }
        },
      }
    },
  }
}
