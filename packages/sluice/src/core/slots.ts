/**
 * A bounded number of slots and a bounded queue for them, fair between fairness keys: tenants, callers or peers.
 *
 * Free slots go to the keys in turn. When the queue is full, a key with few claims displaces the last claim of the key
 * with the most. In a flood most claims are refused, and queueing gets no more work done. Keys that flood are therefore
 * not queued: their admitted calls run at once, and the other keys have the queue to themselves.
 *
 * Only this file changes the state of a claim. A claim is `waiting`, then `held`, then `ended`, and may skip states but
 * never goes back. After every operation:
 *
 * 1. `taken` is the number of claims that are held, and at most `slots`.
 * 2. `waiting` is the number of claims that wait, and at most `queue`.
 * 3. While a claim waits, every slot is held, so that no slot is idle.
 * 4. `settled` is called at most once per claim, and never after `release`.
 * 5. `release` frees at most one slot, however often it is called.
 *
 * So the owner of a claim calls `release` when its request ends, in every state of the claim, and no slot can be lost.
 */

/** The right to one slot, or a position in the queue for it. */
export interface SlotClaim {
  readonly state: 'waiting' | 'held' | 'ended'
  /** Leaves the queue or frees the slot. It may be called any number of times. */
  release(): void
}

export interface Slots {
  /** Holds a free slot; `undefined` if none is free. */
  take(): SlotClaim | undefined
  /**
   * Queues for a slot; `undefined` if the queue is full. `settled` is called with true once the slot is held, or with
   * false if another key displaced the claim. A claim that is held at once is returned as `held`.
   */
  wait(fairnessKey: string, settled: (held: boolean) => void): SlotClaim | undefined
  readonly taken: number
  readonly waiting: number
}

export interface SlotsOptions {
  readonly slots: number
  readonly queue: number
}

/** Weight of each outcome in the share of refusals, so that about the last hundred count. */
const smoothing = 1 / 64
/** Above this share of refusals, the load is a flood. */
const floodThreshold = 0.5
/** Maximum number of flooding keys that are remembered. */
const maxFloodingKeys = 1_000

/** Returns half the number of slots: at full load no call then waits longer than half the time the work takes. */
export const defaultQueue = (slots: number): number => Math.ceil(slots / 2)

/** A class, because each call makes one and its method should not be created with it. */
class TrackedClaim implements SlotClaim {
  state: SlotClaim['state']
  readonly fairnessKey: string
  readonly settled: (held: boolean) => void
  readonly #release: (claim: TrackedClaim) => void
  constructor(
    state: SlotClaim['state'],
    end: (claim: TrackedClaim) => void,
    fairnessKey = '',
    settled: (held: boolean) => void = noop,
  ) {
    this.state = state
    this.fairnessKey = fairnessKey
    this.settled = settled
    this.#release = end
  }
  release(): void {
    this.#release(this)
  }
}

export function createSlots({ slots, queue }: SlotsOptions): Slots {
  if (!(slots >= 1) || !(queue >= 0)) throw new TypeError('"slots" must be at least 1 and "queue" at least 0')
  /**
   * The waiting claims of each key, in the order the keys are served. They are sets, because a claim may leave from any
   * position.
   */
  const waitingByKey = new Map<string, Set<TrackedClaim>>()
  let taken = 0
  let waiting = 0
  let granting = false
  let refusals = 0
  /** Refusals of each key since the flood began. */
  const flooding = new Map<string, number>()

  function refused(fairnessKey: string): undefined {
    refusals += (1 - refusals) * smoothing
    const times = flooding.get(fairnessKey) ?? 0
    if (refusals > floodThreshold && (times > 0 || flooding.size < maxFloodingKeys))
      flooding.set(fairnessKey, times + 1)
  }
  function admitted(): void {
    refusals -= refusals * smoothing
    if (refusals <= floodThreshold && flooding.size > 0) flooding.clear()
  }

  function end(claim: TrackedClaim): void {
    if (claim.state === 'waiting') leave(claim)
    else if (claim.state === 'held') taken--
    claim.state = 'ended'
    grant()
  }
  function leave(claim: TrackedClaim): void {
    const claims = waitingByKey.get(claim.fairnessKey)
    claims?.delete(claim)
    waiting--
    if (claims?.size === 0) waitingByKey.delete(claim.fairnessKey)
  }
  /**
   * Grants free slots in a loop, because `settled` may release its claim at once. Recursion would overflow the stack on
   * a long queue.
   */
  function grant(): void {
    if (granting) return
    granting = true
    try {
      while (taken < slots && waiting > 0) hold(nextInLine())
    } finally {
      granting = false
    }
  }
  function hold(claim: TrackedClaim | undefined): void {
    if (!claim) return
    leave(claim)
    // The key goes to the end of the round, if other claims of it wait.
    const claims = waitingByKey.get(claim.fairnessKey)
    if (claims && waitingByKey.delete(claim.fairnessKey)) waitingByKey.set(claim.fairnessKey, claims)
    taken++
    claim.state = 'held'
    claim.settled(true)
  }
  function nextInLine(): TrackedClaim | undefined {
    for (const claims of waitingByKey.values()) for (const claim of claims) return claim
    return undefined
  }
  /** Displaces a claim only if that evens out the keys. Otherwise two keys would displace each other in turn. */
  function makeRoom(fairnessKey: string): boolean {
    let longest: Set<TrackedClaim> | undefined
    for (const claims of waitingByKey.values()) if (claims.size > (longest?.size ?? 0)) longest = claims
    if (!longest || (waitingByKey.get(fairnessKey)?.size ?? 0) + 1 >= longest.size) return false
    const last = [...longest].at(-1)
    if (!last) return false
    leave(last)
    last.state = 'ended'
    last.settled(false)
    return true
  }
  function take(): SlotClaim | undefined {
    // While `grant` runs, a free slot belongs to a waiting claim.
    if (taken >= slots || waiting > 0) return undefined
    taken++
    admitted()
    return new TrackedClaim('held', end)
  }

  return {
    take,
    wait(fairnessKey, settled) {
      if (taken < slots && waiting === 0) return take()
      if ((flooding.get(fairnessKey) ?? 0) > queue) return refused(fairnessKey)
      if (waiting >= queue && !makeRoom(fairnessKey)) return refused(fairnessKey)
      admitted()
      const claim = new TrackedClaim('waiting', end, fairnessKey, settled)
      const claims = waitingByKey.get(fairnessKey)
      if (claims) claims.add(claim)
      else waitingByKey.set(fairnessKey, new Set([claim]))
      waiting++
      return claim
    },
    get taken() {
      return taken
    },
    get waiting() {
      return waiting
    },
  }
}

const noop = (): void => {}
