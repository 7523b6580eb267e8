/**
 * The operator's rules for the tools of one upstream. They are decided when an endpoint is compiled, once per tool and
 * group of callers. One order holds for everything: of the rules that match, the first that states a member decides it.
 */

import type { Caller, Tenant } from '../core/call.ts'
import type { Params } from '../core/json.ts'
import { nameMatcher } from '../core/name-pattern.ts'
import type { Policy } from '../core/target.ts'
import type { Format } from '../protocol/format.ts'
import { policyOf } from '../protocol/policy.ts'
import type { UpstreamRule } from './types.ts'

/** The caller of a call, as far as rules and profiles look at it. */
export interface Audience {
  readonly subject: string
  readonly key: string | undefined
  readonly tenant: string
}

export interface ToolSettings {
  readonly isAllowed: boolean
  /** The name that callers see, before the prefix of the endpoint for all. */
  readonly name: string
  readonly policy: Policy
  /** Whether the upstream may ask during a call that needed an approval. */
  readonly relaysQuestions: boolean
  readonly describe?: string | undefined
  readonly fixed?: RuleArguments | undefined
  readonly defaults?: RuleArguments | undefined
  readonly maxResultLength?: number | undefined
  readonly format?: Format | undefined
}

export interface RuleArguments {
  readonly values: Params
  /** Whether the rule is for several tools, some of which may not have the arguments. */
  readonly isForSeveral: boolean
}

export interface MatchingRule {
  readonly index: number
  readonly rule: UpstreamRule
}

/** What a rule may decide, in the order in which it is shown. */
export const ruleMembers: readonly RuleMember[] = [
  'allow',
  'rename',
  'describe',
  'fixed',
  'defaults',
  'scopes',
  'approval',
  'questions',
  'timeoutMs',
  'rate',
  'maxResultLength',
  'format',
]
export type RuleMember = Exclude<keyof UpstreamRule, 'tools' | 'tenants' | 'callers'>

const defaultTimeoutMs = 60_000

export const audienceOf = ({
  caller: { subject, credential },
  tenant,
}: {
  readonly caller: Pick<Caller, 'subject' | 'credential'>
  readonly tenant: Pick<Tenant, 'id'>
}): Audience => ({
  subject,
  key: credential.startsWith('key ') ? credential.slice('key '.length) : undefined,
  tenant: tenant.id,
})

/**
 * Returns whether a list of callers names this one. An id of a key matches that key only, because a subject may be a
 * text that its user chose.
 */
export function namesCaller(callers: string | readonly string[], { subject, key }: Audience): boolean {
  const names = typeof callers === 'string' ? [callers] : callers
  return names.some((name) => (isKeyId(name) ? name === key : name === subject))
}

const isKeyId = (name: string): boolean => /^[0-9a-f]{16}$/.test(name)

/** Returns whether the tenants and callers of a rule match. Before a caller is known, only rules for everyone do. */
export function matchesAudience({ tenants, callers }: UpstreamRule, audience: Audience | undefined): boolean {
  if (tenants === undefined && callers === undefined) return true
  if (!audience) return false
  const isTenant = tenants === undefined || [tenants].flat().includes(audience.tenant)
  return isTenant && (callers === undefined || namesCaller(callers, audience))
}

/** Returns the rules that match a tool and a caller, in the order in which they decide. */
export const matchingRules = (
  rules: readonly UpstreamRule[],
  tool: string,
  audience: Audience | undefined,
): readonly MatchingRule[] =>
  rules.flatMap((rule, index) =>
    matchesAudience(rule, audience) && nameMatcher(rule.tools)(tool) ? [{ index, rule }] : [],
  )

export const firstStated = <M extends RuleMember>(
  matching: readonly MatchingRule[],
  member: M,
): UpstreamRule[M] | undefined => matching.find(({ rule }) => rule[member] !== undefined)?.rule[member]

/** Returns the settings of a tool. `isReadOnly` is the upstream's claim if the operator trusts it, otherwise false. */
export function settingsFor(
  upstream: string,
  tool: string,
  isReadOnly: boolean,
  matching: readonly MatchingRule[],
): ToolSettings {
  const first = <M extends RuleMember>(member: M): UpstreamRule[M] | undefined => firstStated(matching, member)
  const [scopes, rate] = [first('scopes'), first('rate')]
  const policy = policyOf(
    { ...(scopes && { scopes }), timeoutMs: first('timeoutMs') ?? defaultTimeoutMs },
    `upstream "${upstream}", tool "${tool}"`,
    { approval: first('approval') ?? 'never', readOnly: isReadOnly },
  )
  return {
    isAllowed: first('allow') !== false,
    name: renamed(first('rename'), tool),
    policy: rate ? { ...policy, rate: { ...rate, name: `${upstream}/${tool}` } } : policy,
    describe: first('describe'),
    fixed: argumentsOf(matching, 'fixed'),
    defaults: argumentsOf(matching, 'defaults'),
    maxResultLength: first('maxResultLength'),
    format: first('format'),
    relaysQuestions: first('questions') === 'relay',
  }
}

function argumentsOf(matching: readonly MatchingRule[], member: 'fixed' | 'defaults'): RuleArguments | undefined {
  const rule = matching.find((each) => each.rule[member] !== undefined)?.rule
  return rule?.[member] && { values: rule[member], isForSeveral: isForSeveral(rule) }
}

export function isForSeveral({ tools }: UpstreamRule): boolean {
  const names = tools === undefined ? ['*'] : [tools].flat()
  return names.length > 1 || names.some((name) => name.includes('*'))
}

export const renamed = (rename: string | undefined, tool: string): string => rename?.replace('*', () => tool) ?? tool
