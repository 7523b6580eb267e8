/** How much at once: slots per tenant, so that a noisy neighbour cannot take them all, and per tool where it matters. */

import type { Answer } from '../core/answer.ts'
import type { Call, Handler, Layer } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import type { Gauge, Quota } from '../core/plugin.ts'
import type { SlotClaim, Slots } from '../core/slots.ts'
import { createSlots, defaultQueue } from '../core/slots.ts'
import type { Stop } from '../core/stop.ts'

export interface ConcurrencyOptions {
  /**
   * Calls of one tenant under way at once: 64 unless said. Together with its queue it should stay well below what the
   * gate lets in, or one tenant can fill the gate.
   */
  readonly perTenant?: number
  /** For tools that stand before something scarce, over all tenants, by name. */
  readonly tools?: { readonly [name: string]: number }
  /**
   * How many may wait for each of these: half as many as may run, unless said. Longer queues do not get more done, they
   * only make everybody wait longer.
   */
  readonly queue?: number
}

/** Methods of the protocol that run a developer's code. The others answer at once, and `ping` must even when all is full. */
const methodsThatRunCode: ReadonlySet<string> = new Set(['completion/complete', 'resources/list'])
/** Tenants whose slots are kept though nothing of theirs is under way. */
const maxIdleTenants = 1000

/** Inside the deadline, which ends the waiting too. */
export function concurrencyLayer(
  { perTenant = 64, tools = {}, queue }: ConcurrencyOptions = {},
  uses: Quota[] = [],
  counts: Gauge[] = [],
): Layer {
  const create = (slots: number): Slots => createSlots({ slots, queue: queue ?? defaultQueue(slots) })
  const ofTools = new Map(Object.entries(tools).map(([name, slots]) => [name, create(slots)]))
  const ofTenants = new Map<string, Slots>()

  function tenantSlots(id: string): Slots {
    const known = ofTenants.get(id)
    if (known) return known
    if (ofTenants.size >= maxIdleTenants)
      for (const [each, { taken }] of ofTenants) if (taken === 0) ofTenants.delete(each)
    const made = create(perTenant)
    ofTenants.set(id, made)
    return made
  }

  const using = (read: (slots: Slots) => number, most: number): Quota['of'] =>
    function of(tenant) {
      const slots = ofTenants.get(tenant)
      return slots && { used: read(slots), most }
    }
  uses.push(
    { name: 'calls at once', of: using(({ taken }) => taken, perTenant) },
    { name: 'calls that wait', of: using(({ waiting }) => waiting, queue ?? defaultQueue(perTenant)) },
  )

  const waiting = (): number =>
    [...ofTenants.values(), ...ofTools.values()].reduce((sum, each) => sum + each.waiting, 0)
  counts.push({ name: 'sluice_waiting', help: 'Calls that wait for their turn.', type: 'gauge', read: waiting })

  return (next) =>
    function concurrency(call) {
      const { target, tenant, stop } = call
      // Streams end in other ways, and hold nothing while they wait.
      if (target.policy.timeoutMs === Number.POSITIVE_INFINITY) return next(call)
      if (target.kind === 'method' && !methodsThatRunCode.has(target.name)) return next(call)
      if (stop.reason) return Promise.reject(stop.reason)
      const own = tenantSlots(tenant.id)
      const tool = target.kind === 'tool' ? ofTools.get(target.name) : undefined
      const hold = createClaimSet(stop)
      const free = tool ? undefined : own.take()
      if (!free) return runQueued(call, next, hold, own, tool)
      hold.add(free)
      return runWithSlot(call, next, hold)
    }
}

/** The claims of one call. Ended once, when the call ends or is stopped: work that ignores its signal holds no slot. */
interface ClaimSet {
  add(claim: SlotClaim): void
  release(): void
}
function createClaimSet(stop: Stop): ClaimSet {
  const claims: SlotClaim[] = []
  let over = false
  function end(): void {
    if (over) return
    over = true
    forget()
    for (const claim of claims) claim.release()
  }
  const forget = stop.onStop(end)
  return {
    add(claim) {
      if (over) claim.release()
      else claims.push(claim)
    },
    release: end,
  }
}

/** Returns the promise of `next` itself: the common case, without a queue, costs no further promise. */
function runWithSlot(call: Call, next: Handler, { release: end }: ClaimSet): Promise<Answer> {
  try {
    const answer = next(call)
    answer.then(end, end)
    return answer
  } catch (thrown) {
    end()
    return Promise.reject(thrown)
  }
}

async function runQueued(
  call: Call,
  next: Handler,
  hold: ClaimSet,
  own: Slots,
  tool: Slots | undefined,
): Promise<Answer> {
  try {
    // The tenant's slot first: a call that waits for its own tenant must not hold a tool's slot meanwhile.
    await acquire(own, call.caller.subject, hold, call.stop, 'Too many calls of this tenant are under way')
    if (tool)
      await acquire(tool, call.tenant.id, hold, call.stop, `Too many calls of ${call.target.name} are under way`)
    // Stopped after it got its slot: work without a client must not begin.
    if (call.stop.reason) throw call.stop.reason
    return await next(call)
  } finally {
    hold.release()
  }
}

function acquire(slots: Slots, lane: string, hold: ClaimSet, stop: Stop, problem: string): Promise<void> | undefined {
  const free = slots.take()
  if (free) {
    hold.add(free)
    return undefined
  }
  return new Promise((resolve, reject) => {
    const refuse = (): void =>
      reject(new RpcError('rateLimited', `${problem}: wait 1 s, then try again`, { data: { retryAfterMs: 1000 } }))
    const claim = slots.wait(lane, (held) => {
      forget()
      if (held) resolve()
      else refuse()
    })
    // The hold heard of the stop first, and has left the queue.
    const forget = stop.onStop(reject)
    if (!claim) {
      forget()
      refuse()
      return
    }
    hold.add(claim)
    if (claim.state === 'held') resolve()
  })
}
