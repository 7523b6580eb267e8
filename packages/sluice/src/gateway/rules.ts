/** The operator's rules for the tools of one upstream, decided once per tool when the registry is compiled. */

import { nameMatcher } from '../core/name-pattern.ts'
import type { Policy } from '../core/target.ts'
import type { Format } from '../protocol/format.ts'
import { policyOf } from '../protocol/policy.ts'
import type { UpstreamRule } from './types.ts'

/** The rules' decision for one tool. */
export interface ToolSettings {
  readonly isAllowed: boolean
  readonly policy: Policy
  readonly format: Format | undefined
  /** Whether the upstream may ask during a call that needed an approval. */
  readonly relaysQuestions: boolean
}

const defaultTimeoutMs = 60_000

/** Returns the settings of a tool. `isReadOnly` is the upstream's claim if the operator trusts it, otherwise false. */
export function settingsFor(
  upstream: string,
  tool: string,
  isReadOnly: boolean,
  rules: readonly UpstreamRule[] = [],
): ToolSettings {
  const matching = rules.filter((rule) => nameMatcher(rule.tools)(tool))
  const first = <K extends keyof UpstreamRule>(member: K): UpstreamRule[K] | undefined =>
    matching.find((rule) => rule[member] !== undefined)?.[member]
  const scopes = first('scopes')
  const policy = policyOf(
    { ...(scopes && { scopes }), timeoutMs: first('timeoutMs') ?? defaultTimeoutMs },
    `upstream "${upstream}", tool "${tool}"`,
    { approval: first('approval') ?? 'never', readOnly: isReadOnly },
  )
  return {
    isAllowed: first('allow') !== false,
    policy,
    format: first('format'),
    relaysQuestions: first('questions') === 'relay',
  }
}
