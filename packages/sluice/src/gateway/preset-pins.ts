/** The arguments that the operator's rules set for a tool. They decide what a call does, so they are pinned with it. */

import type { Params } from '../core/json.ts'
import { nameMatcher } from '../core/name-pattern.ts'
import type { FixedArguments } from './pinned.ts'
import type { UpstreamRule } from './types.ts'

/** The members of a rule that set arguments, and those that say for which calls. */
const members = ['tenants', 'callers', 'fixed', 'defaults'] as const
type PresetRule = UpstreamRule & { readonly [member in (typeof members)[number]]?: unknown }

/** Returns what the rules for a tool set, rule by rule in their order; `undefined` if they set nothing. */
export const fixedArgumentsOf =
  (rules: readonly UpstreamRule[] = []): FixedArguments =>
  (tool) => {
    const setting = rules.filter(
      (rule: PresetRule) => (rule.fixed ?? rule.defaults) !== undefined && nameMatcher(rule.tools)(tool),
    )
    return setting.length === 0 ? undefined : setting.map(presetOf)
  }

const presetOf = (rule: PresetRule): Params =>
  Object.fromEntries(members.flatMap((member) => (rule[member] === undefined ? [] : [[member, rule[member]]])))
