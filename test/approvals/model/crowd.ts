/** Many concurrent operations on one ticket, in every order that a store allows: it is spent once, or never. */

import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import type { Decider } from 'sluice/approvals'
import type { Fault, ModelWorld, Process } from './world.ts'
import { observedIn, operator, requestIn, startProcess } from './world.ts'

export interface Crowd {
  readonly members: readonly Member[]
  /** Which waiting access comes next. */
  readonly order: readonly number[]
  /** Whether the ticket is approved before they begin. */
  readonly approved: boolean
}
interface Member {
  readonly does: 'call' | 'call by its id' | 'approve' | 'deny' | 'take back' | 'withdraw'
  readonly process: number
  readonly fault: Fault | undefined
}

const member: fc.Arbitrary<Member> = fc.record({
  does: fc.constantFrom<Member['does'][]>('call', 'call', 'call by its id', 'approve', 'deny', 'take back', 'withdraw'),
  process: fc.integer({ min: 0, max: 2 }),
  fault: fc.option(
    fc.record({
      kind: fc.constantFrom<Fault['kind'][]>('crash', 'fails once'),
      access: fc.integer({ min: 1, max: 30 }),
      after: fc.boolean(),
    }),
    { nil: undefined, freq: 5 },
  ),
})
export const orders: fc.Arbitrary<readonly number[]> = fc.array(fc.nat(), { minLength: 1, maxLength: 200, size: 'max' })
export const crowds: fc.Arbitrary<Crowd> = fc.record({
  members: fc.array(member, { minLength: 2, maxLength: 6, size: 'max' }),
  order: orders,
  approved: fc.boolean(),
})

const omar: Decider = { ...operator, subject: 'omar' }

export async function playCrowd(world: ModelWorld, { members, order, approved }: Crowd): Promise<void> {
  const first = startProcess(world)
  const id = requestIn(await first.call(0)) ?? ''
  if (approved) await first.approvals.decide(id, { approved: true }, operator)
  const processes = [0, 1, 2].map(() => startProcess(world))
  const counted = { approve: approved ? 1 : 0, deny: 0, 'take back': 0, withdraw: 0 }
  await runInOrder(
    world,
    order,
    members.map(({ does, process: index, fault }) => async () => {
      const process = processes[index]
      const outcome = process && (await attempt(process, does, fault, id))
      if (outcome === 'done' && does !== 'call' && does !== 'call by its id') counted[does]++
    }),
  )
  // A later call, when every abandoned claim is in doubt.
  await world.clock.advance(31_000)
  await first.call(0)
  const said = JSON.stringify(counted)
  if (world.ran.length > 1) throw new Error(`It ran ${world.ran.length} times: ${said}`)
  if (counted.deny > 0 && counted.approve > 0) throw new Error(`It was approved and denied: ${said}`)
  if (counted.deny + counted['take back'] + counted.withdraw > 0 && world.ran.length > 0)
    throw new Error(`It was denied, and ran: ${said}`)
  const mayBeApproved = approved || members.some(({ does }) => does === 'approve')
  if (!mayBeApproved && world.ran.length > 0) throw new Error('It ran without an approval')
  await Promise.all([first, ...processes].map((process) => process.close()))
}

/** Several processes make the same call concurrently: all get the same ticket, which can be approved and runs. */
export async function proposeTogether(world: ModelWorld, order: readonly number[]): Promise<void> {
  const processes = [0, 1, 2].map(() => startProcess(world))
  const told = new Set<string | undefined>()
  await runInOrder(
    world,
    order,
    processes.map((process) => async () => {
      told.add(requestIn(await process.call(0)))
    }),
  )
  const [id = '', ...others] = told
  if (others.length > 0) throw new Error(`They were told of ${told.size} tickets`)
  for (const kind of ['proposal', 'state', 'open', 'all', 'slot']) {
    const found = await world.store.list(['approvals', kind], { limit: 10 })
    if (found.length !== 1) throw new Error(`One ticket left ${found.length} keys of the kind ${kind}`)
  }
  await processes[0]?.approvals.decide(id, { approved: true }, operator)
  await processes[1]?.call(0)
  if (world.ran.length !== 1) throw new Error('It was approved in vain')
  await Promise.all(processes.map((process) => process.close()))
}

/** Starts all at once and performs one access to the store at a time, in this order. */
async function runInOrder(
  world: ModelWorld,
  order: readonly number[],
  work: readonly (() => Promise<void>)[],
): Promise<void> {
  const waiting: ((done: () => void) => void)[] = []
  world.turn = () => new Promise((resolve) => waiting.push(resolve))
  let left = work.length
  const all = work.map((each) =>
    each().finally(() => {
      left--
    }),
  )
  for (let turn = 0; left > 0 || waiting.length > 0; ) {
    await setImmediate()
    if (waiting.length === 0) continue
    const [next] = waiting.splice((order[turn++ % order.length] ?? 0) % waiting.length, 1)
    await new Promise<void>((resolve) => next?.(resolve))
  }
  await Promise.all(all)
  delete world.turn
}

async function attempt(process: Process, does: Member['does'], fault: Fault | undefined, id: string): Promise<string> {
  const work = async (): Promise<string> => {
    if (does === 'call') return observedIn(await process.call(0))
    if (does === 'call by its id') return observedIn(await process.call(0, { approval_request_id: id, approved: true }))
    if (does === 'withdraw')
      return observedIn(await process.call(0, { approval_request_id: id, approved: false })) === 'denied'
        ? 'done'
        : 'refused'
    if (does === 'take back') await process.approvals.takeBack(id, operator)
    else await process.approvals.decide(id, { approved: does === 'approve' }, does === 'approve' ? operator : omar)
    return 'done'
  }
  return process.during(fault, () => work().catch(() => 'refused'))
}
