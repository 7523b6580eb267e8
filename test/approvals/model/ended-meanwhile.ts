/**
 * A call that uses a ticket stops before each of its accesses to the store in turn, and the ticket ends meanwhile. A call
 * that had not claimed the ticket by then must not run.
 */

import type { InWorld } from './stores.ts'
import { runMs } from './ticket-model.ts'
import type { ModelWorld, Process } from './world.ts'
import { observedIn, operator, requestIn, startProcess } from './world.ts'

const timeKey = ['approvals', 'time']
/** How long the approval still lasts when the call begins: less than the call's own deadline, which would end it first. */
const leftMs = 5000

/** Ends the approved ticket `id`. Returns what the second process saw, for those that are themselves a call. */
type End = (world: ModelWorld, other: Process, id: string, mark: string) => Promise<string | undefined>

export const ends: { readonly [how: string]: End } = {
  async expired({ clock }) {
    await clock.advance(leftMs)
    return undefined
  },
  withdrawn: async (_, other, id) => observedIn(await other.call(0, { approval_request_id: id, approved: false })),
  'taken back': async (_, other, id) => {
    // Refused if the call has spent the ticket before this access.
    const { status } = await other.approvals.takeBack(id, operator).catch(() => ({ status: 'spent' }))
    return status
  },
  async void(world, other) {
    const before = world.effect
    world.effect = before + 1
    const seen = observedIn(await other.call(0))
    world.effect = before
    return seen
  },
  /** The mark alone tells a copy of the store from the store: a copy made at the approval holds the ticket as it is. */
  async restored({ store }, _, _id, mark) {
    await store.set(timeKey, mark)
    return undefined
  },
}

/** Ends the ticket before every access of the call, each time in a new world. Returns the number of accesses. */
export async function endBeforeEach(inWorld: InWorld, end: End): Promise<number> {
  let access = 0
  for (let wentOn = true; wentOn; )
    await inWorld(async (world) => {
      wentOn = await endBefore(world, ++access, end)
    })
  return access - 1
}

/** Returns `false` if the call had fewer than `access` accesses. Throws if it ran although the ticket had ended. */
async function endBefore(world: ModelWorld, access: number, end: End): Promise<boolean> {
  const [first, other] = [startProcess(world), startProcess(world)]
  const id = requestIn(await first.call(0)) ?? ''
  await first.approvals.decide(id, { approved: true }, operator)
  const mark = (await world.store.get(timeKey)) ?? ''
  // After it this process writes the mark, so that it knows a count that no copy has.
  await world.clock.advance(runMs - leftMs)
  await first.approvals.grants.list()
  let accesses = 0
  let before: string | undefined
  world.turn = async () => {
    if (++accesses === access) {
      delete world.turn
      before = (await other.approvals.get(id))?.status
      const seen = await end(world, other, id, mark)
      if (before === 'approved' && seen !== undefined && !['denied', 'void'].includes(seen))
        throw new Error(`The ticket did not end: ${seen}`)
    }
    return () => {}
  }
  const seen = observedIn(await first.call(0))
  delete world.turn
  if (before === 'approved' && world.ran.length > 0)
    throw new Error(`It ended before access ${access}, when no call had claimed it, and ran: ${seen}`)
  await Promise.all([first, other].map((process) => process.close()))
  return accesses >= access
}
