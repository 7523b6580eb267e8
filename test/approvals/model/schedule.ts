/** Plays a schedule of steps on the real code and on the model. Two processes take turns; both must show the same. */

import fc from 'fast-check'
import { RpcError } from 'sluice'
import type { TicketView } from 'sluice/approvals'
import type { Moment, State } from './ticket-model.ts'
import {
  afterBrokenCall,
  afterCall,
  afterDecision,
  afterGrant,
  afterResolution,
  afterRevocation,
  afterTakingBack,
  afterWaiting,
  afterWithdrawal,
  viewOf,
} from './ticket-model.ts'
import type { Fault, ModelWorld, Process } from './world.ts'
import { observedIn, operator, startProcess } from './world.ts'

type DirectCommand =
  | 'call'
  | 'approve'
  | 'deny'
  | 'take back'
  | 'withdraw'
  | 'grant'
  | 'revoke'
  | 'it ran'
  | 'it did not run'
type Command =
  | { readonly do: DirectCommand }
  | { readonly do: 'wait'; readonly seconds: number }
  | { readonly do: 'set the clock back'; readonly seconds: number }
  | { readonly do: 'change what it acts on'; readonly to: number }
  | { readonly do: 'restart' }
export type Step = Command & { readonly key: number; readonly process: number; readonly fault: Fault | undefined }

const fault: fc.Arbitrary<Fault> = fc.record({
  kind: fc.constantFrom<Fault['kind'][]>('crash', 'crash', 'fails once', 'fails from then on'),
  access: fc.integer({ min: 1, max: 24 }),
  after: fc.boolean(),
})
const decision = fc.constantFrom(
  'approve',
  'approve',
  'deny',
  'take back',
  'withdraw',
  'grant',
  'revoke',
  'it ran',
  'it did not run',
)
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 8, arbitrary: fc.constant({ do: 'call' as const }) },
  { weight: 6, arbitrary: decision.map((each) => ({ do: each }) as Command) },
  { weight: 2, arbitrary: fc.constantFrom(1, 20, 31, 300, 601).map((seconds) => ({ do: 'wait' as const, seconds })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(60, 700, 3600).map((seconds) => ({ do: 'set the clock back' as const, seconds })),
  },
  { weight: 1, arbitrary: fc.constantFrom(1, 2).map((to) => ({ do: 'change what it acts on' as const, to })) },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' as const }) },
)
export const schedules: fc.Arbitrary<readonly Step[]> = fc.array(
  fc
    .tuple(
      command,
      fc.integer({ min: 0, max: 1 }),
      fc.integer({ min: 0, max: 1 }),
      fc.option(fault, { nil: undefined, freq: 4 }),
    )
    .map(([each, key, process, broken]) => ({ ...each, key, process, fault: broken })),
  { minLength: 1, maxLength: 40, size: 'max' },
)

const grantMs = 900_000
const keys = [0, 1]
const shown = ['pending', 'approved', 'running', 'in doubt']

/** Throws if the real code does something that the model does not allow. */
export async function play(world: ModelWorld, steps: readonly Step[]): Promise<void> {
  const processes = [startProcess(world), startProcess(world)]
  const states: State[][] = keys.map(() => [{ grants: [] }])
  let at = world.clock.now()
  const now = (): Moment => ({ at, wall: world.clock.now(), effect: world.effect })
  try {
    for (const step of steps) {
      const views = await observe(processes, states, now())
      await take(step, views[step.key])
    }
    await observe(processes, states, now())
  } finally {
    await Promise.all(processes.map((process) => process.close()))
  }

  async function take(step: Step, view: TicketView | undefined): Promise<void> {
    if (step.do === 'wait') {
      await world.clock.advance(step.seconds * 1000)
      at += step.seconds * 1000
      for (const key of keys) states[key] = distinct((states[key] ?? []).flatMap(afterWaiting))
    } else if (step.do === 'set the clock back') world.clock.set(world.clock.now() - step.seconds * 1000)
    else if (step.do === 'change what it acts on') world.effect = step.to
    else if (step.do === 'restart') await restart(step.process)
    else {
      const process = processes[step.process]
      if (!process) return
      const before = states[step.key] ?? []
      states[step.key] = distinct(await carryOut(step, process, view, before))
      if (states[step.key]?.length === 0)
        throw new Error(`No state explains ${JSON.stringify(step)} after ${JSON.stringify(before)}`)
      if (process.isDead) await restart(step.process)
    }
  }
  async function restart(index: number): Promise<void> {
    await processes[index]?.close()
    processes[index] = startProcess(world)
    // A process that ends in an orderly way writes what waits in the background.
    for (const key of keys) states[key] = distinct((states[key] ?? []).flatMap(afterWaiting))
  }

  /** Returns the possible states afterwards; none if the real code did what no state allows. */
  async function carryOut(
    { do: what, key, fault: broken }: Step,
    process: Process,
    view: TicketView | undefined,
    before: readonly State[],
  ): Promise<readonly State[]> {
    if (what === 'call') {
      const runs = world.ran.length
      const answer = await process.during(broken, () => process.call(key))
      const ran = world.ran.length - runs
      if (ran > 1) throw new Error('One call ran twice')
      const seen = answer === 'died' ? answer : observedIn(answer)
      const whole = before.map((state) => afterCall(state, now())).filter(([expected]) => expected === seen)
      const asExpected = whole.filter(([expected]) => (expected === 'ran') === (ran === 1)).map(([, after]) => after)
      if (!process.wasHit) return asExpected
      return [...asExpected, ...before.flatMap((state) => afterBrokenCall(state, now(), ran === 1))]
    }
    const after = await decided(what, key, broken, process, view)
    if (!after) return before
    const { outcome, change } = after
    return outcome === 'done' ? before.map(change) : [...before, ...before.map(change)]
  }

  async function decided(
    what: Step['do'],
    key: number,
    broken: Fault | undefined,
    process: Process,
    view: TicketView | undefined,
  ): Promise<{ readonly outcome: 'done' | 'unknown'; change(state: State): State } | undefined> {
    const attempt = async (work: () => Promise<unknown>, change: (state: State) => State) => {
      try {
        const outcome = await process.during(broken, work)
        return { outcome: outcome === 'died' ? ('unknown' as const) : ('done' as const), change }
      } catch (thrown) {
        if (broken && thrown instanceof RpcError && thrown.reason === 'storeUnavailable')
          return { outcome: 'unknown' as const, change }
        throw new Error(`${what} was refused: ${String(thrown)}; the ticket is ${view?.status}`)
      }
    }
    const { approvals } = process
    if (what === 'revoke') {
      const [grant] = (await approvals.grants.list()).grants.filter(
        (each) => each.arguments !== 'any' && 'exactly' in each.arguments && each.arguments.exactly['key'] === key,
      )
      return (
        grant &&
        attempt(
          () => approvals.grants.revoke(grant.id, operator),
          (state) => afterRevocation(state, grant.expiresAt),
        )
      )
    }
    if (!view) return undefined
    const { id, status } = view
    if (what === 'grant')
      return attempt(
        () => approvals.grants.create({ ticket: id, arguments: 'exactly', durationMs: grantMs }, operator),
        (state) => afterGrant(state, now(), grantMs),
      )
    if (what === 'withdraw' && (status === 'pending' || status === 'approved'))
      return attempt(
        async () => {
          const seen = observedIn(await process.call(key, { approval_request_id: id, approved: false }))
          if (seen === 'storeUnavailable') throw new RpcError('storeUnavailable', seen)
          if (seen !== 'denied') throw new Error(seen)
        },
        (state) => afterWithdrawal(state, now()),
      )
    if ((what === 'approve' || what === 'deny') && status === 'pending')
      return attempt(
        () => approvals.decide(id, { approved: what === 'approve' }, operator),
        (state) => afterDecision(state, now(), what === 'approve'),
      )
    if (what === 'take back' && status === 'approved')
      return attempt(
        () => approvals.takeBack(id, operator),
        (state) => afterTakingBack(state, now()),
      )
    if ((what === 'it ran' || what === 'it did not run') && status === 'in doubt')
      return attempt(
        () => approvals.resolve(id, what === 'it ran' ? 'ran' : 'did not run', operator),
        (state) => afterResolution(state, now(), what === 'it ran'),
      )
    return undefined
  }
}

/** Both processes show at most one ticket for each key, and one that the model expects. */
async function observe(
  processes: readonly Process[],
  states: State[][],
  now: Moment,
): Promise<readonly (TicketView | undefined)[]> {
  // Each process reads the time: one that never did cannot know that the clock was set back.
  for (const { approvals } of processes) await approvals.grants.list()
  const lists = await Promise.all(
    processes.map(async ({ approvals }) => (await approvals.list({ limit: 200 })).tickets),
  )
  const [views, others] = lists.map((tickets) => keys.map((key) => waitingFor(tickets, key)))
  for (const key of keys) {
    const status = views?.[key]?.status
    if (others?.[key]?.status !== status)
      throw new Error(`One process shows ${status}, another ${others?.[key]?.status}`)
    const before = states[key] ?? []
    states[key] = before.filter((state) => viewOf(state, now) === status)
    if (states[key]?.length === 0)
      throw new Error(`Approvals show ${status}, and the model ${JSON.stringify(before)} at ${JSON.stringify(now)}`)
  }
  return views ?? []
}

function waitingFor(tickets: readonly TicketView[], key: number): TicketView | undefined {
  const found = tickets.filter((ticket) => ticket.arguments === `{"key":${key}}` && shown.includes(ticket.status))
  if (found.length > 1) throw new Error(`Two tickets for one call: ${found.map(({ status }) => status).join(', ')}`)
  return found[0]
}

const distinct = (states: readonly State[]): State[] => [
  ...new Map(states.map((state) => [JSON.stringify(state), state])).values(),
]
