/** A schedule of steps, played on the real code and on the model. Three processes take turns; all must see the same. */

import fc from 'fast-check'
import type { Clock, Params } from 'sluice'
import type { ProcessLease } from '../../packages/sluice/src/core/process-lease.ts'
import { createProcessLease } from '../../packages/sluice/src/core/process-lease.ts'
import type { RunningCall } from '../../packages/sluice/src/running-calls/record.ts'
import { WrittenResult } from '../../packages/sluice/src/running-calls/record.ts'
import type { RunningCallStore, StoredCall } from '../../packages/sluice/src/running-calls/running-call-store.ts'
import { createRunningCallStore } from '../../packages/sluice/src/running-calls/running-call-store.ts'
import type { Step } from '../../packages/sluice/src/running-calls/transitions.ts'
import { answer, ask, cancel, claim, finish } from '../../packages/sluice/src/running-calls/transitions.ts'
import type { FaultyStore, StoreFault } from '../kit/servers/faulty-store.ts'
import { faultyStore } from '../kit/servers/faulty-store.ts'
import type { TaskWorld } from '../tasks/worlds.ts'
import type { CallState } from './call-model.ts'
import { abandoned, answered, asked, cancelled, claimed, created, finished, none } from './call-model.ts'

type Command =
  | { readonly do: 'create' | 'create waiting' | 'claim' | 'finish' | 'cancel' | 'look' | 'kill' }
  | { readonly do: 'ask'; readonly names: readonly string[] }
  | { readonly do: 'answer'; readonly keys: readonly string[] }
  | { readonly do: 'wait'; readonly seconds: number }
export type ScheduledStep = Command & { readonly at: number; readonly fault: StoreFault | undefined }

const names = ['a', 'b']
const keys = [1, 2, 3].flatMap((round) => names.map((name) => `${name}.${round}`))
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('create' as const, 'create waiting' as const).map((each) => ({ do: each })) },
  { weight: 4, arbitrary: fc.constant({ do: 'claim' as const }) },
  { weight: 4, arbitrary: fc.constant({ do: 'look' as const }) },
  { weight: 2, arbitrary: fc.constant({ do: 'finish' as const }) },
  { weight: 1, arbitrary: fc.constantFrom('cancel' as const, 'kill' as const).map((each) => ({ do: each })) },
  { weight: 4, arbitrary: fc.subarray(names, { minLength: 1 }).map((some) => ({ do: 'ask' as const, names: some })) },
  { weight: 4, arbitrary: fc.subarray(keys, { minLength: 1 }).map((some) => ({ do: 'answer' as const, keys: some })) },
  { weight: 3, arbitrary: fc.constantFrom(1, 5, 14, 20, 60).map((seconds) => ({ do: 'wait' as const, seconds })) },
)
const fault: fc.Arbitrary<StoreFault> = fc.record({
  kind: fc.constantFrom<StoreFault['kind'][]>('crash', 'fails once', 'fails from then on'),
  access: fc.integer({ min: 1, max: 4 }),
  after: fc.boolean(),
})
export const schedules: fc.Arbitrary<readonly ScheduledStep[]> = fc.array(
  fc
    .tuple(command, fc.integer({ min: 0, max: 2 }), fc.option(fault, { nil: undefined, freq: 4 }))
    .map(([each, at, broken]) => ({ ...each, at, fault: broken })),
  { minLength: 1, maxLength: 40, size: 'max' },
)

interface Process extends FaultyStore {
  readonly calls: RunningCallStore
  readonly lease: ProcessLease
  /** The record as this process wrote it last. */
  stored?: StoredCall | undefined
  /** When it last could have renewed its lease, once it is dead. */
  diedAt?: number
}

const [tenant, id] = ['acme', 'one']
const ttlMs = 24 * 3_600_000

export async function play(world: TaskWorld, steps: readonly ScheduledStep[]): Promise<void> {
  const { clock } = world
  const everyone: Process[] = []
  const start = (): Process => {
    const faulty = faultyStore(world.store)
    const { store } = faulty
    const process: Process = Object.assign(Object.create(faulty) as FaultyStore, {
      calls: createRunningCallStore(store, clock, 'task'),
      lease: createProcessLease(store, clock),
    })
    everyone.push(process)
    return process
  }
  const processes = [start(), start(), start()]
  let states: readonly CallState[] = [none]
  /** How often a process was told that it may begin the work. */
  let begun = 0
  let last: RunningCall | undefined

  for (const step of steps) {
    const process = processes[step.at] as Process
    if (step.do === 'wait') {
      for (let left = step.seconds; left > 0; left--) await clock.advance(1_000)
    } else if (step.do === 'kill') process.kill()
    else await carryOut(step, process)
    if (process.isDead) {
      process.diedAt = clock.now()
      processes[step.at] = start()
    }
    await compare()
  }
  for (const process of everyone) process.kill()

  async function carryOut(step: ScheduledStep, process: Process): Promise<void> {
    const { work, change, begins } = await plan(step, process)
    const { value, thrown, died, wasHit } = await process.during(step.fault, work)
    if (thrown !== undefined && !wasHit && states.every(({ exists }) => !exists || step.do !== 'create'))
      throw new Error(`${step.do} failed without a fault: ${String(thrown)}`)
    if (value === true && begins && !died) begun++
    if (begun > 1) throw new Error('Two runs were begun')
    const after = states.map(change)
    states = wasHit || thrown !== undefined ? distinct([...states, ...after]) : distinct(after)
  }

  async function plan(
    step: ScheduledStep,
    process: Process,
  ): Promise<{ work: () => Promise<boolean>; change: (state: CallState) => CallState; begins?: boolean }> {
    const { calls, lease } = process
    // From the record that the process wrote last, which others may have changed since.
    const take = async (by: Step): Promise<boolean> => {
      const changed = await calls.change(tenant, id, by, process.stored)
      process.stored = changed
      return changed?.changed ?? false
    }
    switch (step.do) {
      case 'create':
      case 'create waiting': {
        const isWaiting = step.do === 'create waiting'
        // Ids are random: a call is created once.
        if (states.some(({ exists }) => exists)) return { work: async () => false, change: (state) => state }
        return {
          begins: !isWaiting,
          change: created(isWaiting ? undefined : lease.id),
          async work() {
            if (!isWaiting) await lease.hold()
            process.stored = await calls.create(newCall(clock, isWaiting ? undefined : lease.id))
            return true
          },
        }
      }
      case 'claim':
        return {
          begins: true,
          change: claimed(lease.id),
          async work() {
            await lease.hold()
            return take(claim(lease.id, ttlMs))
          },
        }
      case 'ask': {
        const questions = step.names.map((name) => [name, { method: 'elicitation/create', params: { name } }] as const)
        return { change: asked(lease.id, step.names), work: () => take(ask(lease.id, Object.fromEntries(questions))) }
      }
      case 'answer': {
        const given = Object.fromEntries(step.keys.map((key) => [key, `${key} at ${clock.now()}`]))
        return { change: answered(given), work: () => take(answer(given)) }
      }
      case 'finish':
        return {
          change: finished(lease.id, 'completed'),
          work: () => take(finish(lease.id, new WrittenResult({ content: [] }))),
        }
      case 'cancel':
        return { change: cancelled, work: () => take(cancel) }
      default: {
        const found = await world.store.get(['task', tenant, id])
        const owner = found === undefined ? undefined : (JSON.parse(found) as RunningCall).process
        const gone = everyone.find((each) => each.lease.id === owner && each.isDead)
        let isAbandoned = false
        return {
          async work() {
            const call = await calls.read(tenant, id)
            isAbandoned = call !== undefined && (await calls.isAbandoned(call))
            if (call && isAbandoned) assertLapsed(gone?.diedAt, clock.now())
            if (!call?.process || call.outcome || !isAbandoned) {
              if (call?.process && !call.outcome) assertNotOverdue(gone?.diedAt, clock.now())
              return false
            }
            return take(finish(call.process, { error: { code: 0, message: 'in doubt', data: {} } }, 'in doubt'))
          },
          change: (state) => (isAbandoned && owner !== undefined ? abandoned(owner)(state) : state),
        }
      }
    }
  }

  /** Every process sees the same record, one that the model expects, and an outcome for good. */
  async function compare(): Promise<void> {
    const seen = await Promise.all(processes.map(({ calls }) => calls.read(tenant, id)))
    const [record] = seen
    for (const other of seen)
      if (JSON.stringify(other) !== JSON.stringify(record)) throw new Error('Two processes see two records')
    const text = JSON.stringify(toState(record))
    const before = states
    states = states.filter((state) => JSON.stringify(sorted(state)) === text)
    if (states.length === 0) throw new Error(`The record is ${text}, and the model ${JSON.stringify(before)}`)
    if (last?.outcome && JSON.stringify(last) !== JSON.stringify(record)) throw new Error('An outcome changed')
    if (last?.process !== undefined && record?.process !== last.process) throw new Error('The owner changed')
    last = record
  }
}

/** A process that lives, or died less than 15 s ago, is never taken for gone. */
function assertLapsed(diedAt: number | undefined, now: number): void {
  if (diedAt === undefined) throw new Error('A process that lives was taken for gone')
  if (now - diedAt < 15_000) throw new Error(`A process was taken for gone after ${now - diedAt} ms`)
}
function assertNotOverdue(diedAt: number | undefined, now: number): void {
  if (diedAt !== undefined && now - diedAt >= 20_000) throw new Error('A process that is gone counts as alive')
}

const newCall = (clock: Clock, process: string | undefined): RunningCall => ({
  ...{ id, tenant, subject: 'ann', tool: 'a-tool', definition: '', digest: '' },
  ...{ createdAt: clock.now(), changedAt: clock.now(), until: clock.now() + ttlMs },
  ...{ rounds: 0, questions: {}, answers: {} },
  ...(process !== undefined && { process }),
})

const sorted = ({ exists, process, rounds, open, answered: given, outcome }: CallState): Params => ({
  ...{ exists, process, rounds, open: open.toSorted(), answered: Object.entries(given).toSorted(), outcome },
})
function toState(record: RunningCall | undefined): Params {
  if (!record) return sorted(none)
  const { process, rounds, questions, answers, outcome } = record
  const how = outcome && ('result' in outcome ? 'completed' : 'error' in outcome ? 'in doubt' : 'cancelled')
  return sorted({
    ...{ exists: true, rounds, open: Object.keys(questions), answered: answers as { [key: string]: string } },
    ...(process !== undefined && { process }),
    ...(how !== undefined && { outcome: how }),
  })
}

const distinct = (states: readonly CallState[]): readonly CallState[] => [
  ...new Map(states.map((state) => [JSON.stringify(state), state])).values(),
]
