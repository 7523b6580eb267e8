/**
 * A bounded number of slots and a bounded queue for them, fair between lanes. A lane is a tenant, a caller or a peer.
 *
 * Free slots go round the lanes, one each. When the queue is full, a lane with few claims in it takes the place of the
 * last claim of the longest lane. In a flood, where most claims are refused, queueing gets no more work done, so lanes that
 * flood are not queued: their admitted calls run at once, and the other lanes have the queue to themselves.
 *
 * Only this file changes the state of a claim. A claim is `waiting`, then `held`, then `ended`, and may skip states but
 * never goes back. After every operation:
 *
 * 1. `taken` is the number of claims that are held, and at most `slots`.
 * 2. `waiting` is the number of claims that wait, and at most `queue`.
 * 3. While a claim waits, every slot is held: a free slot is never left idle.
 * 4. `settled` is called at most once per claim, and never after `end`.
 * 5. `end` frees at most one slot, however often it is called.
 *
 * So the owner of a claim calls `end` when its request is over, in whatever state the claim is, and no slot can be lost.
 */

/** The right to one slot, or a place in the queue for it. */
export interface SlotClaim {
  readonly state: 'waiting' | 'held' | 'ended'
  /** Leaves the queue or gives the slot back. Safe to call any number of times. */
  release(): void
}

export interface Slots {
  /** Holds a free slot; `undefined` if none is free. */
  take(): SlotClaim | undefined
  /**
   * Queues for a slot; `undefined` if there is no place in the queue. `settled` is called with true once the slot is held,
   * or with false if another lane took the place in the queue. A claim that is held at once is returned as `held`.
   */
  wait(lane: string, settled: (held: boolean) => void): SlotClaim | undefined
  readonly taken: number
  readonly waiting: number
}

export interface SlotsOptions {
  readonly slots: number
  readonly queue: number
}

/** Each outcome moves the share of refusals by this part, so that about the last hundred count. */
const smoothing = 1 / 64
/** Above this share of refusals, the load is a flood. */
const floodThreshold = 0.5
/** Lanes of a flood that are remembered. */
const maxFloodingKeys = 1_000

/** Half as many as may run: at full load no call waits longer than half the time the work takes. */
export const defaultQueue = (slots: number): number => Math.ceil(slots / 2)

/** A class, because each call makes one and its method should not be made with it. */
class TrackedClaim implements SlotClaim {
  state: SlotClaim['state']
  readonly fairnessKey: string
  readonly settled: (held: boolean) => void
  readonly #release: (claim: TrackedClaim) => void
  constructor(
    state: SlotClaim['state'],
    end: (claim: TrackedClaim) => void,
    lane = '',
    settled: (held: boolean) => void = noop,
  ) {
    this.state = state
    this.fairnessKey = lane
    this.settled = settled
    this.#release = end
  }
  release(): void {
    this.#release(this)
  }
}

export function createSlots({ slots, queue }: SlotsOptions): Slots {
  if (!(slots >= 1) || !(queue >= 0)) throw new TypeError('"slots" must be at least 1 and "queue" at least 0')
  /** In the order they are served. Sets, because a claim may leave from anywhere. */
  const lanes = new Map<string, Set<TrackedClaim>>()
  let taken = 0
  let waiting = 0
  let granting = false
  let refusals = 0
  /** Refusals of each lane since the flood began. */
  const flooding = new Map<string, number>()

  function refused(lane: string): undefined {
    refusals += (1 - refusals) * smoothing
    const times = flooding.get(lane) ?? 0
    if (refusals > floodThreshold && (times > 0 || flooding.size < maxFloodingKeys)) flooding.set(lane, times + 1)
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
    const line = lanes.get(claim.fairnessKey)
    line?.delete(claim)
    waiting--
    if (line?.size === 0) lanes.delete(claim.fairnessKey)
  }
  /** A loop, because `settled` may end its claim at once: calling itself, a long queue would overflow the stack. */
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
    // To the end of the round, if other claims of this lane wait.
    const line = lanes.get(claim.fairnessKey)
    if (line && lanes.delete(claim.fairnessKey)) lanes.set(claim.fairnessKey, line)
    taken++
    claim.state = 'held'
    claim.settled(true)
  }
  function nextInLine(): TrackedClaim | undefined {
    for (const line of lanes.values()) for (const claim of line) return claim
    return undefined
  }
  /** Only if it evens out the lanes: otherwise two of them would displace each other by turns. */
  function makeRoom(lane: string): boolean {
    let longest: Set<TrackedClaim> | undefined
    for (const line of lanes.values()) if (line.size > (longest?.size ?? 0)) longest = line
    if (!longest || (lanes.get(lane)?.size ?? 0) + 1 >= longest.size) return false
    const last = [...longest].at(-1)
    if (!last) return false
    leave(last)
    last.state = 'ended'
    last.settled(false)
    return true
  }
  function take(): SlotClaim | undefined {
    // While `grant` runs, a free slot belongs to a claim that waits.
    if (taken >= slots || waiting > 0) return undefined
    taken++
    admitted()
    return new TrackedClaim('held', end)
  }

  return {
    take,
    wait(lane, settled) {
      if (taken < slots && waiting === 0) return take()
      if ((flooding.get(lane) ?? 0) > queue) return refused(lane)
      if (waiting >= queue && !makeRoom(lane)) return refused(lane)
      admitted()
      const claim = new TrackedClaim('waiting', end, lane, settled)
      const line = lanes.get(lane)
      if (line) line.add(claim)
      else lanes.set(lane, new Set([claim]))
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
