/** Profiles: which tools an endpoint or a caller is limited to. A profile takes tools away and never adds one. */

import { nameMatcher } from '../core/name-pattern.ts'
import type { Audience } from './rules.ts'
import { namesCaller } from './rules.ts'
import type { Profile } from './types.ts'

export type Profiles = { readonly [name: string]: Profile }

export type ToolFilter = (upstream: string, tool: string) => boolean

export const profilesOf = (profiles: Profiles, audience: Audience | undefined): readonly string[] =>
  Object.entries(profiles).flatMap(([name, { callers }]) =>
    audience && callers !== undefined && namesCaller(callers, audience) ? [name] : [],
  )

const includes = ({ tools }: Profile, upstream: string, tool: string): boolean =>
  Object.hasOwn(tools, upstream) && nameMatcher(tools[upstream])(tool)

/**
 * Returns the filter of an endpoint for a caller; `undefined` if all tools are served. The endpoint of a profile has its
 * tools only. A caller that is bound to several profiles sees the tools of all of them.
 */
export function filterOf(
  profiles: Profiles,
  endpoint: string | undefined,
  audience: Audience | undefined,
): ToolFilter | undefined {
  const own = endpoint === undefined ? undefined : profiles[endpoint]
  const bound = profilesOf(profiles, audience).flatMap((name) => profiles[name] ?? [])
  if (!own && bound.length === 0) return undefined
  return (upstream, tool) =>
    (!own || includes(own, upstream, tool)) &&
    (bound.length === 0 || bound.some((profile) => includes(profile, upstream, tool)))
}
