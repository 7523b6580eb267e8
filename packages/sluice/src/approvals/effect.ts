/** The effect of a gated call: what it acts on. It is shown to the approver and compared again before the call runs. */

import type { Call } from '../core/call.ts'
import { digest } from '../core/digest.ts'
import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { Effect, Ready } from '../core/target.ts'

/** Computes the effect. `undefined` if the tool states none. Throws if a value cannot be shown to a person. */
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
        `tool "${call.target.name}": "effect" must return strings, finite numbers or booleans; "${label}" is not one`,
      )
  return Object.fromEntries(labels) as Effect
}

export const isSameEffect = (one: Effect | undefined, other: Effect | undefined): boolean =>
  digest(one ?? {}) === digest(other ?? {})

/** Makes the error that tells the caller and its model why an approval can no longer be used. */
export function approvalVoid(tool: string, before: Effect = {}, now: Effect = {}): RpcError {
  const labels = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
    (label) => valueAt(before, label) !== valueAt(now, label),
  )
  const shown = (effect: Effect, label: string): string => JSON.stringify(valueAt(effect, label)) ?? 'nothing'
  const changes = labels.map((label) => `${label}: ${shown(before, label)} → ${shown(now, label)}`).join('; ')
  const changed: Params = Object.fromEntries(
    labels.map((label) => [label, { from: valueAt(before, label) ?? null, to: valueAt(now, label) ?? null }]),
  )
  return new RpcError(
    'approvalVoid',
    `Not run: what ${tool} acts on changed after the approval was requested, so that approval is void. ${changes}. Call the tool again to ask for a new approval.`,
    { data: { changed } },
  )
}

const valueAt = (effect: Effect, label: string): Effect[string] | undefined =>
  Object.hasOwn(effect, label) ? effect[label] : undefined

/** Compares the effect once more right before the work, because the store or the audit may have taken seconds. */
export const withEffectCheck = (ready: Ready, effect: Effect | undefined): Ready => ({
  ...ready,
  async run(call, answers) {
    const now = await effectOf(ready, { ...call, answers })
    if (!isSameEffect(effect, now)) throw approvalVoid(call.target.name, effect, now)
    return ready.run(call, answers)
  },
})
