/**
 * When a call needs an approval: the operator's rules first, then what the tool itself says. The first rule that matches
 * decides. Rules come with the process and nothing in the protocol changes them.
 */

import type { Call } from '../core/call.ts'
import { digest } from '../core/digest.ts'
import { isObject } from '../core/json.ts'
import type { Target } from '../core/target.ts'

/** Everything a rule states must fit; one that states nothing fits every tool. */
export interface Rule {
  /** The whole name; `*` stands for any characters: `delete_*`. In the case it is written in. */
  readonly tool?: string | readonly string[]
  /** The same for the server's name. */
  readonly server?: string | readonly string[]
  /**
   * Hints of the tool. What a tool does not say counts as the specification has it, which is the dangerous way: a tool
   * that says nothing is destructive and open-world.
   */
  readonly annotations?: { readonly [hint in Hint]?: boolean }
  readonly tenant?: string | readonly string[]
  /** Subjects. */
  readonly caller?: string | readonly string[]
  /** `tool` leaves it to the tool's own `approval`. */
  readonly approval: 'always' | 'never' | 'tool'
  /** So many different people must approve. One. */
  readonly needed?: number
  /** Only these subjects may decide. */
  readonly of?: readonly string[]
}
/** An annotation of a tool that a rule can look at. */
export type Hint = 'readOnlyHint' | 'destructiveHint' | 'idempotentHint' | 'openWorldHint'

/** A rule as the console and the command show it. */
export interface RuleView extends Rule {
  /** Its place: lower ones go first. */
  readonly place: number
  /** In words. */
  readonly text: string
}

/** What a rule, or the absence of one, says about a call. */
export interface RuleVerdict {
  readonly approval: Rule['approval']
  readonly needed: number
  readonly of?: readonly string[]
  /** What a ticket is bound to: another rule is another question. */
  readonly digest: string
}

export interface Rules {
  readonly views: readonly RuleView[]
  /** Whether a call of this tool can need an approval at all, whoever calls. */
  mayNeedApproval(tool: Target, server: string): boolean
  verdict(call: Pick<Call, 'target' | 'tenant' | 'caller'>, server: string): RuleVerdict
}

const toolDefault: RuleVerdict = { approval: 'tool', needed: 1, digest: 'tool' }

interface CompiledRule {
  readonly verdict: RuleVerdict
  matchesTool(target: Target, server: string): boolean
  /** Absent where it does not look at who calls. */
  readonly matchesCall: ((call: Pick<Call, 'tenant' | 'caller'>) => boolean) | undefined
}

export function createRules(rules: readonly Rule[] = []): Rules {
  const compiled = rules.map(compileRule)
  /** Which rules can still match a tool, found once: most tools then need no look at any. */
  const known = new WeakMap<Target, Map<string, readonly CompiledRule[]>>()
  function candidates(target: Target, server: string): readonly CompiledRule[] {
    const perServer = known.get(target) ?? new Map<string, readonly CompiledRule[]>()
    known.set(target, perServer)
    const found = perServer.get(server)
    if (found) return found
    const fitting = compiled.filter((rule) => rule.matchesTool(target, server))
    const last = fitting.findIndex(({ matchesCall }) => matchesCall === undefined)
    const made = last === -1 ? fitting : fitting.slice(0, last + 1)
    perServer.set(server, made)
    return made
  }
  return {
    views: rules.map((rule, place) => ({ ...rule, place, text: describeRule(rule) })),
    mayNeedApproval(tool, server) {
      const fitting = candidates(tool, server)
      const isLast = fitting.at(-1)?.matchesCall === undefined && fitting.length > 0
      const verdicts = [...fitting.map(({ verdict }) => verdict), ...(isLast ? [] : [toolDefault])]
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
    throw new TypeError(`${where}: approval is always, never or tool`)
  if (!Number.isInteger(needed) || needed < 1) throw new TypeError(`${where}: needed is a number of people, at least 1`)
  if (of && new Set(of).size < needed) throw new TypeError(`${where}: of names fewer people than are needed`)
  const [isTool, isServer] = [matcher(tool), matcher(server)]
  const wanted = Object.entries(annotations ?? {})
  for (const [hint] of wanted)
    if (!hints.has(hint)) throw new TypeError(`${where}: ${hint} is no annotation; use ${[...hints].join(', ')}`)
  const [tenants, callers] = [setOf(tenant), setOf(caller)]
  return {
    verdict: { approval, needed, ...(of && { of: [...of] }), digest: digest(JSON.parse(JSON.stringify(rule))) },
    matchesTool: (target, name) =>
      target.kind === 'tool' &&
      isTool(target.name) &&
      isServer(name) &&
      wanted.every(([hint, value]) => value === undefined || hintOf(target, hint) === value),
    matchesCall:
      tenants || callers
        ? (call) => (!tenants || tenants.has(call.tenant.id)) && (!callers || callers.has(call.caller.subject))
        : undefined,
  }
}

const hints: ReadonlySet<string> = new Set<Hint>(['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'])

/** https://modelcontextprotocol.io/specification/2026-07-28/schema#toolannotations */
function hintOf({ entry }: Target, hint: string): boolean {
  const stated = isObject(entry) && isObject(entry['annotations']) ? entry['annotations'] : {}
  const readOnly = stated['readOnlyHint'] === true
  if (hint === 'readOnlyHint') return readOnly
  if (hint === 'destructiveHint') return !readOnly && stated['destructiveHint'] !== false
  if (hint === 'idempotentHint') return stated['idempotentHint'] === true
  return stated['openWorldHint'] !== false
}

const setOf = (names: string | readonly string[] | undefined): ReadonlySet<string> | undefined =>
  names === undefined ? undefined : new Set(typeof names === 'string' ? [names] : names)

function matcher(patterns: string | readonly string[] | undefined): (name: string) => boolean {
  if (patterns === undefined) return () => true
  const all = (typeof patterns === 'string' ? [patterns] : patterns).map((pattern) => pattern.split('*'))
  return (name) => all.some((pieces) => matches(name, pieces))
}

/** Piece by piece from the left, in linear time: a pattern as a regular expression can backtrack. */
function matches(name: string, pieces: readonly string[]): boolean {
  const [first = '', ...rest] = pieces
  if (rest.length === 0) return name === first
  const last = rest.pop() ?? ''
  if (!name.startsWith(first)) return false
  let from = first.length
  for (const piece of rest) {
    const found = name.indexOf(piece, from)
    if (found === -1) return false
    from = found + piece.length
  }
  return name.length - last.length >= from && name.endsWith(last)
}

/** `delete_* of acme, destructiveHint: always, 2 of ann, bob, eve`. */
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
  const outcome = { always: 'needs an approval', never: 'needs none', tool: 'as the tool itself says' }[approval]
  return `${parts.join(' ')}: ${outcome}${people}`
}
