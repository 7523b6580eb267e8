/**
 * Explains what would happen to a call: which rules match, in which order, and what they decide. It compiles the endpoint
 * as for a real call, so that the two cannot differ. It opens no connection and counts nothing.
 */

import { didYouMean } from '../core/did-you-mean.ts'
import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { Bucket } from '../core/store.ts'
import type { Target } from '../core/target.ts'
import { visibility } from '../layers/authorize.ts'
import type { ImpliedScopes } from '../layers/identities/scope-hierarchy.ts'
import { createScopeHierarchy } from '../layers/identities/scope-hierarchy.ts'
import type { Contexts, EndpointSpec } from './compile.ts'
import { compileEndpoint } from './compile.ts'
import type { Profiles } from './profiles.ts'
import { filterOf, profilesOf } from './profiles.ts'
import type { Audience, MatchingRule } from './rules.ts'
import { firstStated, matchingRules, ruleMembers } from './rules.ts'
import type { RunningUpstream } from './runtime.ts'
import { sameUris } from './skill-uris.ts'
import type { UpstreamRule } from './types.ts'

/** A tool of an upstream, by its own name. */
export interface UpstreamTool {
  readonly upstream: string
  readonly tool: string
  readonly title?: string
  /** The schema of its arguments, as the upstream lists it. */
  readonly inputSchema?: Params
}

/** A call to explain. */
export interface CallQuestion {
  readonly upstream: string
  /** The upstream's own name of the tool. */
  readonly tool: string
  /** The arguments as a caller sends them. */
  readonly args?: Params
  /** Asks for the endpoint of this profile. By default for the endpoint of the upstream. */
  readonly profile?: string
  readonly caller: ExplainedCaller
}

/** A caller, as its key or token describes it. */
export interface ExplainedCaller {
  readonly subject: string
  /** The id of its API key. */
  readonly key?: string
  readonly scopes?: readonly string[]
  readonly tenant?: string
}

/** What the server around the gateway decides about calls. */
export interface HostPolicies {
  /** The rules of `createApprovals`: its member `verdict`. */
  verdict?(call: ApprovalSubject, server: string): { readonly approval: 'always' | 'never' | 'tool' }
  /** Scopes that another scope includes, as in `authenticate({ impliedScopes })`. */
  readonly impliedScopes?: ImpliedScopes | undefined
  /** The tools of a tenant, as in `tenants({ tools })`. */
  tenantTools?(tenant: string): ReadonlySet<string> | 'all'
}

/** What rules for approvals look at. */
export interface ApprovalSubject {
  readonly target: Target
  readonly tenant: { readonly id: string }
  readonly caller: { readonly subject: string }
}

/** What would happen to a call, and why. */
export interface CallExplanation {
  readonly outcome: 'runs' | 'needsApproval' | 'refused'
  /** Why it is refused. */
  readonly refusal?: CallRefusal
  /** The name that this caller sees and uses. Absent if the caller does not see the tool. */
  readonly listedAs?: string
  /** The rules that match the tool and the caller, in the order in which they decide. */
  readonly rules: readonly AppliedRule[]
  /** The profiles that the caller is bound to. */
  readonly profiles: readonly string[]
  /** The arguments that the upstream would get. */
  readonly arguments?: Params
  /** The scopes that a caller needs. */
  readonly scopes: readonly string[]
  readonly approval: 'never' | 'always'
  readonly timeoutMs?: number
  /** Absent if no rule sets one, so that the rate of the server applies. */
  readonly rate?: Bucket
  /** Absent if no rule sets one, so that the limit of the server applies. */
  readonly maxResultLength?: number
  /** Whether a rule rewrites the text of structured results. */
  readonly format?: 'toon'
}

/** Why a call is refused. */
export interface CallRefusal {
  readonly code: 'unknownTool' | 'denied' | 'profile' | 'leftOut' | 'tenantTools' | 'scopes' | 'arguments'
  readonly message: string
}

/** A rule that matches a call. */
export interface AppliedRule {
  /** Its position in the rules of the upstream. */
  readonly index: number
  /** The calls that it is for, in words. */
  readonly text: string
  /** The members that it decides. */
  readonly decides: readonly string[]
  /** The members that an earlier rule decides. */
  readonly ignored: readonly string[]
}

export interface ExplainedGateway {
  readonly specs: ReadonlyMap<string, EndpointSpec>
  readonly profiles: Profiles
  readonly running: ReadonlyMap<string, Pick<RunningUpstream, 'upstream' | 'definitions'>> | undefined
}

export const toolsOf = (
  running: readonly Pick<RunningUpstream, 'upstream' | 'definitions'>[],
): readonly UpstreamTool[] =>
  running.flatMap(({ upstream, definitions }) =>
    (definitions?.tools ?? []).flatMap(({ name: tool, title, inputSchema }) =>
      typeof tool === 'string'
        ? [
            {
              ...{ upstream: upstream.name, tool },
              ...(typeof title === 'string' && { title }),
              ...(isObject(inputSchema) && { inputSchema }),
            },
          ]
        : [],
    ),
  )

/** Explains a call. Throws a `TypeError` if the upstream or the profile is unknown. */
export function explainCall(
  { specs, profiles, running }: ExplainedGateway,
  question: CallQuestion,
  host: HostPolicies = {},
): CallExplanation {
  const { upstream: name, tool, profile, args = {}, caller } = question
  const one = running?.get(name)
  if (!one) throw new TypeError(`Unknown upstream "${name}"${didYouMean(name, [...(running?.keys() ?? [])])}`)
  const spec = specs.get(profile ?? name)
  if (!spec) throw new TypeError(`Unknown profile "${profile}"${didYouMean(profile ?? '', Object.keys(profiles))}`)
  const audience: Audience = { subject: caller.subject, key: caller.key, tenant: caller.tenant ?? '' }
  const matching = matchingRules(one.upstream.rules ?? [], tool, audience)
  const found = { rules: appliedRules(matching), profiles: profilesOf(profiles, audience) }
  const refused = (code: CallRefusal['code'], message: string): CallExplanation => ({
    ...{ outcome: 'refused', refusal: { code, message }, ...found },
    ...{ scopes: firstStated(matching, 'scopes') ?? [], approval: firstStated(matching, 'approval') ?? 'never' },
  })

  const own = toolsOf([one]).map((each) => each.tool)
  if (!own.includes(tool))
    return refused(
      'unknownTool',
      one.definitions
        ? `${name} has no tool "${tool}"${didYouMean(tool, own)}`
        : `The tools of ${name} are not known yet`,
    )
  if (firstStated(matching, 'allow') === false) {
    const index = matching.find(({ rule }) => rule.allow !== undefined)?.index
    return refused('denied', `rules[${index}] refuses it`)
  }
  if (filterOf(profiles, profile, audience)?.(name, tool) === false)
    return refused('profile', profileMessage(profiles, profile, found.profiles, name, tool))

  const made = compileEndpoint(spec, explainingContexts(running), new Map(), audience)
  const listedAs = [...made.origins].find(([, origin]) => origin.upstream === name && origin.tool === tool)?.[0]
  const target = made.definition.tools?.find((each) => each.name === listedAs)
  if (listedAs === undefined || !target) {
    const reason = made.leftOut.get(name)?.find((each) => each.kind === 'tool' && each.name === tool)?.reason
    return refused('leftOut', `It is not served: ${reason ?? 'its definition cannot be used'}`)
  }
  const stated = new Set(caller.scopes)
  const scopes = host.impliedScopes ? createScopeHierarchy(host.impliedScopes).expand(stated) : stated
  const tools = host.tenantTools?.(audience.tenant)
  if (typeof tools === 'object' && !tools.has(listedAs))
    return refused('tenantTools', `The tenant "${audience.tenant}" does not have the tool ${listedAs}`)
  if (visibility({ target, caller: { scopes }, tenant: { tools } }) !== 'allowed') {
    const missing = target.policy.scopes.filter((scope) => !scopes.has(scope))
    return refused('scopes', `The caller lacks the scope ${missing.join(' ')}`)
  }
  const preset = addPreset(target, args)
  if ('refusal' in preset) return refused('arguments', preset.refusal)

  const verdict = host.verdict?.({ target, tenant: { id: audience.tenant }, caller }, spec.base.name)
  const decided = !verdict || verdict.approval === 'tool' ? target.policy.approval : verdict.approval
  const approval = decided === 'never' ? 'never' : 'always'
  const { timeoutMs, rate } = target.policy
  const maxResultLength = firstStated(matching, 'maxResultLength')
  return {
    outcome: approval === 'always' ? 'needsApproval' : 'runs',
    ...{ listedAs, ...found, arguments: preset.args, scopes: target.policy.scopes, approval, timeoutMs },
    ...(rate && { rate: { burst: rate.burst, perSecond: rate.perSecond } }),
    ...(maxResultLength !== undefined && { maxResultLength }),
    ...(firstStated(matching, 'format') && { format: 'toon' }),
  }
}

/** Adds the arguments of rules as the call would, and returns the refusal of a fixed one that the caller sent. */
function addPreset({ preset }: Target, args: Params): { readonly args: Params } | { readonly refusal: string } {
  try {
    return { args: (preset ? preset.addTo(args) : args) as Params }
  } catch (thrown) {
    if (thrown instanceof RpcError) return { refusal: thrown.message }
    throw thrown
  }
}

function profileMessage(
  profiles: Profiles,
  endpoint: string | undefined,
  bound: readonly string[],
  upstream: string,
  tool: string,
): string {
  const isIn = (name: string): boolean => filterOf(profiles, name, undefined)?.(upstream, tool) === true
  if (endpoint !== undefined && !isIn(endpoint)) return `The profile ${endpoint} does not have it`
  return `The caller is bound to the profile ${bound.join(', ')}, which does not have it`
}

/** The upstreams as an endpoint needs them, without a way to reach them. */
function explainingContexts(running: ExplainedGateway['running']): Contexts {
  return {
    of(upstream) {
      const one = running?.get(upstream)
      return {
        one: { definitions: one?.definitions },
        context: {
          ...{ upstream, trustHints: one?.upstream.trustHints === true, completes: false, uris: sameUris },
          ...{ pinOf: () => undefined, isQuarantinedUri: () => false },
          relay: () => Promise.reject(new TypeError('An explained call is not sent')),
        },
        watches: { watch: () => () => {} },
      }
    },
  }
}

/** Returns what each rule decides. The first rule that states a member decides it. */
function appliedRules(matching: readonly MatchingRule[]): readonly AppliedRule[] {
  const decided = new Set<string>()
  return matching.map(({ index, rule }) => {
    const stated = ruleMembers.filter((member) => rule[member] !== undefined)
    const decides = stated.filter((member) => !decided.has(member))
    for (const member of decides) decided.add(member)
    return { index, text: describeRule(rule), decides, ignored: stated.filter((member) => !decides.includes(member)) }
  })
}

/** Returns `tools write_* of tenant acme, called by ann`. */
function describeRule({ tools, tenants, callers }: UpstreamRule): string {
  const list = (names: string | readonly string[]): string => [names].flat().join(' or ')
  return [
    tools === undefined ? 'every tool' : `tool ${list(tools)}`,
    ...(tenants === undefined ? [] : [`for tenant ${list(tenants)}`]),
    ...(callers === undefined ? [] : [`called by ${list(callers)}`]),
  ].join(' ')
}
