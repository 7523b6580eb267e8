/** What a gated call acts on: shown to the person who decides, and compared again before the call runs. */

import type { Call } from '../core/call.ts'
import { digest } from '../core/digest.ts'
import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { Effect, Ready } from '../core/target.ts'

/** Throws if the tool states something that a person cannot be shown. `undefined` if the tool states nothing. */
export async function effectOf(ready: Ready | undefined, call: Call): Promise<Effect | undefined> {
  const stated: unknown = await ready?.effect?.(call)
  if (ready?.effect === undefined) return undefined
  if (!isObject(stated)) throw new TypeError(`tool "${call.target.name}": "effect" must return an object`)
  const labels = Object.entries(stated)
  for (const [label, value] of labels)
    if (
      !['string', 'number', 'boolean'].includes(typeof value) ||
      (typeof value === 'number' && !Number.isFinite(value))
    )
      throw new TypeError(
        `tool "${call.target.name}": "effect" must return texts, finite numbers or booleans: ${label}`,
      )
  return Object.fromEntries(labels) as Effect
}

export const isSameEffect = (one: Effect | undefined, other: Effect | undefined): boolean =>
  digest(one ?? {}) === digest(other ?? {})

/** One line per label. Values are quoted, so that a text with line breaks cannot add a line of its own. */
export const effectLines = (effect: Effect | undefined): readonly string[] =>
  Object.entries(effect ?? {}).map(([label, value]) => `${label}: ${JSON.stringify(value)}`)

/** Tells the caller, and through it the model, why an approval can no longer be used. */
export function approvalVoid(tool: string, before: Effect = {}, now: Effect = {}): RpcError {
  const labels = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
    (label) => valueAt(before, label) !== valueAt(now, label),
  )
  const said = (effect: Effect, label: string): string => JSON.stringify(valueAt(effect, label)) ?? 'nothing'
  const changes = labels.map((label) => `${label}: ${said(before, label)} → ${said(now, label)}`).join('; ')
  const changed: Params = Object.fromEntries(
    labels.map((label) => [label, { from: valueAt(before, label) ?? null, to: valueAt(now, label) ?? null }]),
  )
  return new RpcError(
    'approvalVoid',
    `Nothing was run: what ${tool} acts on changed after the approval was asked for, so that approval is void. ${changes}. Call the tool again to ask for a new approval.`,
    { data: { changed } },
  )
}

const valueAt = (effect: Effect, label: string): Effect[string] | undefined =>
  Object.hasOwn(effect, label) ? effect[label] : undefined

/** Compares once more when everything else is done, right before the work: a store or the audit may have taken seconds. */
export const withEffectCheck = (ready: Ready, effect: Effect | undefined): Ready => ({
  ...ready,
  async run(call, given) {
    const now = await effectOf(ready, { ...call, answers: given })
    if (!isSameEffect(effect, now)) throw approvalVoid(call.target.name, effect, now)
    return ready.run(call, given)
  },
})
