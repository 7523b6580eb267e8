/**
 * A bounded number of slots and a bounded queue before them, fair between lanes: whoever sends most waits longest.
 *
 * A lane is whoever the queue is fair between (a tenant, a caller, a peer). Free slots go round the lanes, one each; and
 * when the queue is full, a lane with little in it takes the place of the last in the longest one.
 *
 * A queue is for moments when more comes than fits. In a flood, where most are refused, somebody is there for every slot
 * that becomes free, and waiting gets no more done: then lanes that flood do not wait, and those who get in are served at
 * once. The others keep the queue to themselves.
 */

export interface Slots {
  /** Takes one if one is free; false otherwise, and then there is `wait`. */
  take(): boolean
  /**
   * Calls `then` once: with true when a slot is the caller's, with false when its place in the queue went to somebody
   * who waits for less. The returned function leaves the queue; `undefined` if there is no place in it.
   */
  wait(lane: string, then: (got: boolean) => void): (() => void) | undefined
  /** Gives one back, to whoever is next. Once per slot. */
  free(): void
  readonly taken: number
  readonly waiting: number
}

export interface SlotsOptions {
  readonly slots: number
  readonly queue: number
}

/** Each outcome moves the share of refusals by this part: the last hundred or so count. */
const memory = 1 / 64
/** From this share of refusals on it is a flood. */
const flood = 0.5
/** Lanes of a flood that are remembered. */
const maxFlooding = 1_000

interface Waiter {
  readonly then: (got: boolean) => void
}

/** Half of what may run: at full load nobody waits longer than half the time the work takes. */
export const usualQueue = (slots: number): number => Math.ceil(slots / 2)

export function createSlots({ slots, queue }: SlotsOptions): Slots {
  if (!(slots >= 1) || !(queue >= 0)) throw new TypeError('There must be at least one slot, and no less than no queue')
  /** In the order they are served; sets, because a waiter may leave from anywhere. */
  const lanes = new Map<string, Set<Waiter>>()
  let taken = 0
  let waiting = 0
  let refusals = 0
  /** How often each lane was refused since it is a flood. */
  const flooding = new Map<string, number>()

  function refused(lane: string): undefined {
    refusals += (1 - refusals) * memory
    const times = flooding.get(lane) ?? 0
    if (refusals > flood && (times > 0 || flooding.size < maxFlooding)) flooding.set(lane, times + 1)
  }
  function admitted(): void {
    refusals -= refusals * memory
    if (refusals <= flood && flooding.size > 0) flooding.clear()
  }

  function leave(lane: string, waiter: Waiter): boolean {
    const line = lanes.get(lane)
    if (!line?.delete(waiter)) return false
    waiting--
    if (line.size === 0) lanes.delete(lane)
    return true
  }
  /** Only where it evens things out: two lanes must not throw each other out by turns. */
  function makeRoom(lane: string): boolean {
    let longest: [lane: string, line: Set<Waiter>] | undefined
    for (const each of lanes) if (each[1].size > (longest?.[1].size ?? 0)) longest = each
    if (!longest || (lanes.get(lane)?.size ?? 0) + 1 >= longest[1].size) return false
    const last = [...longest[1]].at(-1)
    if (!last) return false
    leave(longest[0], last)
    last.then(false)
    return true
  }

  return {
    take() {
      if (taken >= slots) return false
      taken++
      admitted()
      return true
    },
    wait(lane, then) {
      if ((flooding.get(lane) ?? 0) > queue) return refused(lane)
      if (waiting >= queue && !makeRoom(lane)) return refused(lane)
      admitted()
      const waiter: Waiter = { then }
      const line = lanes.get(lane)
      if (line) line.add(waiter)
      else lanes.set(lane, new Set([waiter]))
      waiting++
      return () => void leave(lane, waiter)
    },
    free() {
      const [next] = lanes
      if (!next) {
        taken--
        return
      }
      const [lane, line] = next
      const [first] = line
      if (first) leave(lane, first)
      // To the end of the round, if anybody of this lane is left.
      if (lanes.delete(lane)) lanes.set(lane, line)
      first?.then(true)
    },
    get taken() {
      return taken
    },
    get waiting() {
      return waiting
    },
  }
}
