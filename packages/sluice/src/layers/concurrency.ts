/** Limits concurrent calls: slots per tenant, so that a noisy neighbour cannot take them all, and per tool. */

import type { Answer } from '../core/answer.ts'
import type { Call, Handler, Layer } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import type { Gauge, Quota } from '../core/plugin.ts'
import type { SlotClaim, Slots } from '../core/slots.ts'
import { createSlots, defaultQueue } from '../core/slots.ts'
import type { Stop } from '../core/stop.ts'

/** How many calls run at once, and how many wait. */
export interface ConcurrencyOptions {
  /**
   * Maximum number of running calls of one tenant. 64 by default. Keep it, with its queue, well below what HTTP
   * admission lets in. Otherwise one tenant can fill the server.
   */
  readonly perTenant?: number
  /** Slots by tool name, over all tenants, for tools that use a scarce resource. */
  readonly tools?: { readonly [name: string]: number }
  /**
   * Length of the queue for each of these. By default half the number of slots. A longer queue gets no more done; it
   * only makes every call wait longer.
   */
  readonly queue?: number
}

/** Protocol methods that run a developer's code. The others answer at once, and `ping` must do so even at full load. */
const methodsThatRunCode: ReadonlySet<string> = new Set(['completion/complete', 'resources/list'])
/** The slots of tenants without running calls are removed when there are this many tenants, or twice those that run. */
const maxIdleTenants = 1000

/** Creates the layer. It is inside the deadline, which ends the waiting too. */
export function concurrencyLayer(
  { perTenant = 64, tools = {}, queue }: ConcurrencyOptions = {},
  quotas: Quota[] = [],
  gauges: Gauge[] = [],
): Layer {
  const create = (slots: number): Slots => createSlots({ slots, queue: queue ?? defaultQueue(slots) })
  const slotsOfTools = new Map(Object.entries(tools).map(([name, slots]) => [name, create(slots)]))
  const slotsOfTenants = new Map<string, Slots>()
  let sweepAt = maxIdleTenants

  function slotsOf(id: string): Slots {
    const known = slotsOfTenants.get(id)
    if (known) return known
    if (slotsOfTenants.size >= sweepAt) {
      for (const [each, { taken }] of slotsOfTenants) if (taken === 0) slotsOfTenants.delete(each)
      // Otherwise each new tenant would visit all the others while many have calls in flight.
      sweepAt = Math.max(maxIdleTenants, 2 * slotsOfTenants.size)
    }
    const made = create(perTenant)
    slotsOfTenants.set(id, made)
    return made
  }

  const quotaOf = (read: (slots: Slots) => number, max: number): Quota['of'] =>
    function of(tenant) {
      const slots = slotsOfTenants.get(tenant)
      return slots && { used: read(slots), most: max }
    }
  quotas.push(
    { name: 'calls at once', of: quotaOf(({ taken }) => taken, perTenant) },
    { name: 'calls that wait', of: quotaOf(({ waiting }) => waiting, queue ?? defaultQueue(perTenant)) },
  )

  const waiting = (): number =>
    [...slotsOfTenants.values(), ...slotsOfTools.values()].reduce((sum, each) => sum + each.waiting, 0)
  gauges.push({ name: 'sluice_waiting', help: 'Calls that wait for their turn.', type: 'gauge', read: waiting })

  return (next) =>
    function concurrency(call) {
      const { target, tenant, stop } = call
      // Streams end in other ways, and hold no slot while they wait.
      if (target.policy.timeoutMs === Number.POSITIVE_INFINITY) return next(call)
      if (target.kind === 'method' && !methodsThatRunCode.has(target.name)) return next(call)
      if (stop.reason) throw stop.reason
      const tenantSlots = slotsOf(tenant.id)
      const tool = target.kind === 'tool' ? slotsOfTools.get(target.name) : undefined
      const claims = createClaimSet(stop)
      const free = tool ? undefined : tenantSlots.take()
      if (!free) return runQueued(call, next, claims, tenantSlots, tool)
      claims.add(free)
      return runWithSlot(call, next, claims)
    }
}

/**
 * The claims of one call. Released once, when the call ends or is stopped, so that work that ignores its signal holds
 * no slot.
 */
interface ClaimSet {
  add(claim: SlotClaim): void
  release(): void
}
function createClaimSet(stop: Stop): ClaimSet {
  const claims: SlotClaim[] = []
  let released = false
  function release(): void {
    if (released) return
    released = true
    unlisten()
    for (const claim of claims) claim.release()
  }
  const unlisten = stop.onStop(release)
  return {
    add(claim) {
      if (released) claim.release()
      else claims.push(claim)
    },
    release,
  }
}

/** Returns the answer of `next` itself, so that the common case without a queue costs no further promise. */
function runWithSlot(call: Call, next: Handler, { release }: ClaimSet): ReturnType<Handler> {
  let answer: ReturnType<Handler>
  try {
    answer = next(call)
  } catch (thrown) {
    release()
    throw thrown
  }
  if (answer instanceof Promise) answer.then(release, release)
  else release()
  return answer
}

async function runQueued(
  call: Call,
  next: Handler,
  claims: ClaimSet,
  tenantSlots: Slots,
  tool: Slots | undefined,
): Promise<Answer> {
  try {
    // The tenant's slot comes first, so that a call that waits for its own tenant does not hold a tool's slot
    // meanwhile.
    await acquire(tenantSlots, call.caller.subject, claims, call.stop, 'Too many calls of this tenant are running')
    if (tool)
      await acquire(tool, call.tenant.id, claims, call.stop, `Too many calls of ${call.target.name} are running`)
    // The call may have been stopped when it got its slot. Work without a client must not begin.
    if (call.stop.reason) throw call.stop.reason
    return await next(call)
  } finally {
    claims.release()
  }
}

function acquire(slots: Slots, lane: string, claims: ClaimSet, stop: Stop, problem: string): Promise<void> | undefined {
  const free = slots.take()
  if (free) {
    claims.add(free)
    return undefined
  }
  return new Promise((resolve, reject) => {
    const refuse = (): void =>
      reject(new RpcError('rateLimited', `${problem}: wait 1 s, then try again`, { data: { retryAfterMs: 1000 } }))
    const claim = slots.wait(lane, (held) => {
      unlisten()
      if (held) resolve()
      else refuse()
    })
    // The claim set was notified of the stop first, and has left the queue.
    const unlisten = stop.onStop(reject)
    if (!claim) {
      unlisten()
      refuse()
      return
    }
    claims.add(claim)
    if (claim.state === 'held') resolve()
  })
}
