/**
 * Decides whether a call needs an approval. The operator's rules come first, and the first match decides; then the tool's
 * own setting. Rules are part of the configuration, and nothing in the protocol changes them.
 */

import type { Caller, Tenant } from '../../core/call.ts'
import { digest } from '../../core/digest.ts'
import { isObject } from '../../core/json.ts'
import { nameMatcher } from '../../core/name-pattern.ts'
import type { Target } from '../../core/target.ts'

/** A rule matches a call if everything it states matches. A rule that states nothing matches every tool. */
export interface Rule {
  /** The whole name, case-sensitive. `*` matches any characters, as in `delete_*`. */
  readonly tool?: string | readonly string[]
  /** The server's name, in the same form. */
  readonly server?: string | readonly string[]
  /**
   * Hints of the tool. A hint that the tool does not state has the specification's default, which is the dangerous one: a
   * tool without hints is destructive and open-world.
   */
  readonly annotations?: { readonly [hint in Hint]?: boolean }
  readonly tenant?: string | readonly string[]
  /** The subjects of the callers. */
  readonly caller?: string | readonly string[]
  /** `tool` leaves it to the tool's own `approval`. */
  readonly approval: 'always' | 'never' | 'tool'
  /** The number of different people who must approve. By default 1. */
  readonly needed?: number
  /** Only these subjects may decide. */
  readonly of?: readonly string[]
}
/** An annotation of a tool that a rule can match. */
export type Hint = 'readOnlyHint' | 'destructiveHint' | 'idempotentHint' | 'openWorldHint'

/** A rule as the console and the command show it. */
export interface RuleView extends Rule {
  /** The rule's position. Lower ones go first. */
  readonly place: number
  /** The rule in words. */
  readonly text: string
}

/** The outcome of the rules for a call. */
export interface RuleVerdict {
  readonly approval: Rule['approval']
  readonly needed: number
  readonly of?: readonly string[]
  /** The rule that matched, in words. Absent if none did. */
  readonly text?: string
  /** Tickets are bound to this hash, so that a changed rule needs a new decision. */
  readonly digest: string
}

export interface Rules {
  readonly views: readonly RuleView[]
  /** Whether a call of this tool by any caller can need an approval. */
  mayNeedApproval(tool: Target, server: string): boolean
  verdict(call: RuleSubject, server: string): RuleVerdict
}

/** What rules look at. */
export interface RuleSubject {
  readonly target: Target
  readonly tenant: Pick<Tenant, 'id'>
  readonly caller: Pick<Caller, 'subject'>
}

const toolDefault: RuleVerdict = { approval: 'tool', needed: 1, digest: 'tool' }

interface CompiledRule {
  readonly verdict: RuleVerdict
  matchesTool(target: Target, server: string): boolean
  /** Absent if the rule does not depend on the caller. */
  readonly matchesCall: ((call: RuleSubject) => boolean) | undefined
}

export function createRules(rules: readonly Rule[] = []): Rules {
  const compiled = rules.map(compileRule)
  /** The rules that can match a tool, computed once. For most tools there are none. */
  const known = new WeakMap<Target, Map<string, readonly CompiledRule[]>>()
  function candidates(target: Target, server: string): readonly CompiledRule[] {
    const perServer = known.get(target) ?? new Map<string, readonly CompiledRule[]>()
    known.set(target, perServer)
    const found = perServer.get(server)
    if (found) return found
    const matching = compiled.filter((rule) => rule.matchesTool(target, server))
    const last = matching.findIndex(({ matchesCall }) => matchesCall === undefined)
    const reachable = last === -1 ? matching : matching.slice(0, last + 1)
    perServer.set(server, reachable)
    return reachable
  }
  return {
    views: rules.map((rule, place) => ({ ...rule, place, text: describeRule(rule) })),
    mayNeedApproval(tool, server) {
      const matching = candidates(tool, server)
      const isLast = matching.at(-1)?.matchesCall === undefined && matching.length > 0
      const verdicts = [...matching.map(({ verdict }) => verdict), ...(isLast ? [] : [toolDefault])]
      return verdicts.some(
        ({ approval }) => approval === 'always' || (approval === 'tool' && tool.policy.approval !== 'never'),
      )
    },
    verdict(call, server) {
      for (const { matchesCall, verdict } of candidates(call.target, server))
        if (!matchesCall || matchesCall(call)) return verdict
      return toolDefault
    },
  }
}

function compileRule(rule: Rule, place: number): CompiledRule {
  const { tool, server, annotations, tenant, caller, approval, needed = 1, of } = rule
  const where = `approvals, rule ${place + 1}`
  if (!['always', 'never', 'tool'].includes(approval))
    throw new TypeError(`${where}: "approval" must be "always", "never" or "tool"`)
  if (!Number.isInteger(needed) || needed < 1)
    throw new TypeError(`${where}: "needed" must be a whole number of at least 1`)
  if (of && new Set(of).size < needed) throw new TypeError(`${where}: "of" names fewer people than "needed"`)
  const [isTool, isServer] = [nameMatcher(tool), nameMatcher(server)]
  const expectedHints = Object.entries(annotations ?? {})
  for (const [hint] of expectedHints)
    if (!hints.has(hint)) throw new TypeError(`${where}: "${hint}" is not an annotation; use ${[...hints].join(', ')}`)
  const [tenants, callers] = [setOf(tenant), setOf(caller)]
  return {
    verdict: {
      ...{ approval, needed, text: describeRule(rule) },
      ...(of && { of: [...of] }),
      digest: digest(JSON.parse(JSON.stringify(rule))),
    },
    matchesTool: (target, name) =>
      target.kind === 'tool' &&
      isTool(target.name) &&
      isServer(name) &&
      expectedHints.every(([hint, value]) => value === undefined || hintOf(target, hint) === value),
    matchesCall:
      tenants || callers
        ? (call) => (!tenants || tenants.has(call.tenant.id)) && (!callers || callers.has(call.caller.subject))
        : undefined,
  }
}

const hints: ReadonlySet<string> = new Set<Hint>(['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'])

/** Defaults as in https://modelcontextprotocol.io/specification/2026-07-28/schema#toolannotations */
function hintOf({ entry, hintsAreClaims }: Target, hint: string): boolean {
  const stated = !hintsAreClaims && isObject(entry) && isObject(entry['annotations']) ? entry['annotations'] : {}
  const readOnly = stated['readOnlyHint'] === true
  if (hint === 'readOnlyHint') return readOnly
  if (hint === 'destructiveHint') return !readOnly && stated['destructiveHint'] !== false
  if (hint === 'idempotentHint') return stated['idempotentHint'] === true
  return stated['openWorldHint'] !== false
}

const setOf = (names: string | readonly string[] | undefined): ReadonlySet<string> | undefined =>
  names === undefined ? undefined : new Set(typeof names === 'string' ? [names] : names)

/** Returns `tool delete_* for tenant acme: needs an approval, 2 of ann, bob, eve`. */
function describeRule({ tool, server, annotations, tenant, caller, approval, needed = 1, of }: Rule): string {
  const list = (names: string | readonly string[]): string => (typeof names === 'string' ? names : names.join(' or '))
  const parts = [
    tool === undefined ? 'every tool' : `tool ${list(tool)}`,
    ...(server === undefined ? [] : [`of server ${list(server)}`]),
    ...Object.entries(annotations ?? {}).map(([hint, value]) => (value ? `with ${hint}` : `without ${hint}`)),
    ...(tenant === undefined ? [] : [`for tenant ${list(tenant)}`]),
    ...(caller === undefined ? [] : [`called by ${list(caller)}`]),
  ]
  const people =
    approval !== 'never' && (needed > 1 || of) ? `, ${needed} of ${of ? of.join(', ') : 'all who may decide'}` : ''
  const outcome = { always: 'needs an approval', never: 'needs no approval', tool: 'as the tool states' }[approval]
  return `${parts.join(' ')}: ${outcome}${people}`
}
