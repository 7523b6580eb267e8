/**
 * Refuses rules and profiles that cannot mean what they say: contradictions when they are made, and names that an
 * upstream does not have when its definitions are known. A mistyped `allow: false` would otherwise leave a tool open.
 */

import { didYouMean } from '../core/did-you-mean.ts'
import { isObject } from '../core/json.ts'
import { nameMatcher } from '../core/name-pattern.ts'
import { legalName } from '../protocol/tools.ts'
import type { UpstreamDefinitions } from './definitions.ts'
import { argumentProblems } from './preset-arguments.ts'
import type { Profiles } from './profiles.ts'
import { isForSeveral, renamed, ruleMembers } from './rules.ts'
import type { RunningUpstream } from './runtime.ts'
import type { Upstream, UpstreamRule } from './types.ts'

const selectors = ['tools', 'tenants', 'callers'] as const
const known: readonly string[] = [...selectors, ...ruleMembers]
const namesOf = (names: string | readonly string[] | undefined): readonly string[] =>
  names === undefined ? [] : [names].flat()

/** Throws if a rule contradicts itself or another one. */
export function assertRules(upstream: string, rules: readonly UpstreamRule[]): void {
  const [problem] = rules.flatMap((rule, index) =>
    [...ruleContradictions(rule), ...clashes(rules, rule, index)].map(
      ([member, message]) => `upstream "${upstream}", rules[${index}]${member && `.${member}`}: ${message}`,
    ),
  )
  if (problem !== undefined) throw new TypeError(problem)
}

type Problem = readonly [member: string, message: string]

function ruleContradictions(rule: UpstreamRule): readonly Problem[] {
  const problems: Problem[] = []
  const { allow, rename, fixed, defaults, approval, rate, maxResultLength } = rule
  for (const member of Object.keys(rule))
    if (!known.includes(member)) problems.push([member, `unknown member${didYouMean(member, known)}`])
  for (const member of selectors)
    if (rule[member] !== undefined && namesOf(rule[member]).length === 0)
      problems.push([member, 'the list is empty, so the rule would match no call; remove the member, or name one'])
  const stated = ruleMembers.filter((member) => rule[member] !== undefined)
  if (stated.length === 0) problems.push(['', `the rule decides nothing; state one of ${ruleMembers.join(', ')}`])
  const [useless] = stated.filter((member) => member !== 'allow')
  if (allow === false && useless !== undefined)
    problems.push([useless, '"allow: false" refuses the tool, so the member would have no effect; remove one of them'])
  if (rename !== undefined) {
    if (!legalName.test(renamed(rename, 'x')) || rename.split('*').length > 2)
      problems.push(['rename', 'a name has 1 to 128 letters, digits, "_", "-" or ".", and "*" at most once'])
    else if (!rename.includes('*') && isForSeveral(rule))
      problems.push([
        'rename',
        'several tools would get the same name; use "*" for the own name of the tool, as in "notes_*"',
      ])
  }
  for (const member of ['fixed', 'defaults'] as const)
    if (rule[member] !== undefined && !isObject(rule[member])) problems.push([member, 'must be arguments by name'])
  const both = Object.keys(fixed ?? {}).find((argument) => Object.hasOwn(defaults ?? {}, argument))
  if (both !== undefined) problems.push([`defaults.${both}`, 'the same argument is fixed; remove one of them'])
  if (rule.questions === 'relay' && approval === 'never')
    problems.push(['questions', 'matters for calls that need an approval only, and this rule says "approval: never"'])
  if (rate !== undefined && (!(rate.burst >= 1) || !(rate.perSecond > 0)))
    problems.push(['rate', '"burst" must be at least 1 and "perSecond" more than 0'])
  if (maxResultLength !== undefined && !(maxResultLength >= 1)) problems.push(['maxResultLength', 'must be at least 1'])
  return problems
}

/** Two tools must not get one name, and a rule that an earlier one hides completely is a mistake. */
function clashes(rules: readonly UpstreamRule[], rule: UpstreamRule, index: number): readonly Problem[] {
  const earlier = rules.slice(0, index)
  const sameCallers = (other: UpstreamRule): boolean =>
    JSON.stringify([other.tenants, other.callers]) === JSON.stringify([rule.tenants, rule.callers])
  const { rename } = rule
  if (rename !== undefined && !rename.includes('*')) {
    const at = earlier.findIndex(
      (other) => other.rename === rename && sameCallers(other) && namesOf(other.tools)[0] !== namesOf(rule.tools)[0],
    )
    if (at >= 0) return [['rename', `rules[${at}] gives another tool the same name`]]
  }
  const stated = ruleMembers.filter((member) => rule[member] !== undefined)
  const hides = (other: UpstreamRule): boolean =>
    (other.tenants === undefined || same(other.tenants, rule.tenants)) &&
    (other.callers === undefined || same(other.callers, rule.callers)) &&
    (other.tools === undefined || (rule.tools !== undefined && namesOf(rule.tools).every(nameMatcher(other.tools)))) &&
    stated.every((member) => other[member] !== undefined)
  const at = earlier.findIndex(hides)
  return at >= 0 && stated.length > 0
    ? [['', `rules[${at}] matches the same calls and decides the same first, so this rule has no effect; move it up`]]
    : []
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Throws if a profile names an upstream that does not exist, or has a name that is taken. */
export function assertProfiles(profiles: Profiles, upstreams: readonly string[]): void {
  for (const [name, { tools, callers }] of Object.entries(profiles)) {
    const where = `profiles.${name}`
    if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(name))
      throw new TypeError(`${where}: a name has 1 to 32 lower-case letters, digits and "-"`)
    if (upstreams.includes(name)) throw new TypeError(`${where}: an upstream has the same name; rename the profile`)
    if (Object.keys(tools).length === 0 && callers === undefined)
      throw new TypeError(`${where}.tools: the profile has no tools; name an upstream`)
    for (const [upstream, names] of Object.entries(tools)) {
      if (!upstreams.includes(upstream))
        throw new TypeError(`${where}.tools.${upstream}: unknown upstream${didYouMean(upstream, upstreams)}`)
      if (namesOf(names).length === 0)
        throw new TypeError(`${where}.tools.${upstream}: the list is empty; name a tool, or "*"`)
    }
    if (callers !== undefined && namesOf(callers).length === 0)
      throw new TypeError(`${where}.callers: the list is empty; remove it, or name a caller`)
  }
}

/** Returns which rules and profiles name tools or arguments that an upstream does not have. */
function ruleProblems(
  { name, rules = [] }: Upstream,
  profiles: Profiles,
  { tools }: Pick<UpstreamDefinitions, 'tools'>,
): readonly string[] {
  const own = tools.flatMap(({ name: tool }) => (typeof tool === 'string' ? [tool] : []))
  const unknown = (where: string, names: string | readonly string[] | undefined): readonly string[] =>
    namesOf(names)
      .filter((tool) => !tool.includes('*') && !own.includes(tool))
      .map((tool) => `${where}: ${name} has no tool "${tool}"${didYouMean(tool, own)}`)
  const ofRule = (rule: UpstreamRule, index: number): readonly string[] => {
    const where = `upstream "${name}", rules[${index}]`
    const schemas = tools
      .filter((tool) => nameMatcher(rule.tools)(String(tool['name'])))
      .map(({ inputSchema }) => inputSchema)
    const texts = (['fixed', 'defaults'] as const).flatMap((member) =>
      Object.entries(rule[member] ?? {}).flatMap(([argument, value]) => {
        const found = schemas.filter(isObject).map((schema) => argumentProblems(schema, { [argument]: value })[0])
        // A rule for several tools may set an argument that only some of them have. One of them must have it.
        const problem = found.every((each) => each !== undefined) ? found[0] : undefined
        return problem ? [`${where}.${member}.${argument}: ${problem.message}`] : []
      }),
    )
    return [...unknown(`${where}.tools`, rule.tools), ...texts]
  }
  return [
    ...rules.flatMap(ofRule),
    ...Object.entries(profiles).flatMap(([profile, each]) =>
      unknown(`profiles.${profile}.tools.${name}`, each.tools[name]),
    ),
  ]
}

/** Returns the problems of a running upstream. None while its definitions are unknown. Those in quarantine count too. */
export const problemsOf = (
  { upstream, quarantine: { listed } }: Pick<RunningUpstream, 'upstream' | 'quarantine'>,
  profiles: Profiles,
): readonly string[] => (listed ? ruleProblems(upstream, profiles, listed) : [])
