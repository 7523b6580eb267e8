/**
 * The record of a running call: random schedules of create, claim, ask, answer, finish, cancel, crash and store failure,
 * on every store, against a small model. The invariants are those of `running-calls/running-call-store.ts`.
 */

import fc from 'fast-check'
import { memoryStore } from 'sluice'
import { fakeClock } from 'sluice/testing'
import { expect, onTestFinished, test } from 'vitest'
import { createProcessLease } from '../../packages/sluice/src/core/process-lease.ts'
import { createRunningCallStore } from '../../packages/sluice/src/running-calls/running-call-store.ts'
import { answer, ask, cancel, claim, finish } from '../../packages/sluice/src/running-calls/transitions.ts'
import { scheduledStore } from '../kit/servers/scheduled-store.ts'
import type { InTaskWorld } from '../tasks/worlds.ts'
import { inMemory, inSqlite, startPostgresTaskWorlds, startRedisTaskWorlds } from '../tasks/worlds.ts'
import { play, schedules } from './schedule.ts'

const patient = { timeout: 120_000 }

const check = (inWorld: InTaskWorld, numRuns: number): Promise<void> =>
  fc.assert(
    fc.asyncProperty(schedules, (steps) => inWorld((world) => play(world, steps))),
    { numRuns },
  )

test('running calls in memory do what the model says', patient, () => check(inMemory, 400))
test('running calls in SQLite do what the model says', patient, () => check(inSqlite, 20))
test.each([
  ['Redis', startRedisTaskWorlds],
  ['PostgreSQL', startPostgresTaskWorlds],
])('running calls in %s do what the model says', patient, async (_, startWorlds) => {
  const { inWorld, stop } = await startWorlds()
  onTestFinished(stop)
  await check(inWorld, 20)
})

test('of processes that claim a call at once one gets it, and it ends once, in every order', patient, () =>
  fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.boolean(), async (scheduler, isCancelled) => {
      const clock = fakeClock(1_700_000_000_000)
      const store = memoryStore(clock)
      const calls = createRunningCallStore(store, clock, 'task')
      await calls.create({
        ...{ id: 'one', tenant: 'acme', subject: 'ann', tool: 'pay', definition: '', digest: '' },
        ...{ createdAt: clock.now(), changedAt: clock.now(), until: clock.now() + 60_000 },
        ...{ rounds: 0, questions: {}, answers: {} },
      })
      let runs = 0
      const outcomes: string[] = []
      const work = [1, 2, 3, 4].map(async (n) => {
        const own = scheduledStore(scheduler, store)
        const mine = createRunningCallStore(own, clock, 'task')
        const lease = createProcessLease(own, clock)
        const release = await lease.hold()
        if ((await mine.change('acme', 'one', claim(lease.id, 60_000)))?.changed) {
          runs++
          await mine.change('acme', 'one', ask(lease.id, { q: { method: 'elicitation/create', params: {} } }))
          const ended = await mine.change('acme', 'one', finish(lease.id, { result: { n } }))
          if (ended?.changed) outcomes.push('completed')
        }
        release()
      })
      const other = createRunningCallStore(scheduledStore(scheduler, store), clock, 'task')
      const answering = other.change('acme', 'one', answer({ 'q.1': 'yes' }))
      const cancelling = isCancelled
        ? other.change('acme', 'one', cancel).then((ended) => ended?.changed && outcomes.push('cancelled'))
        : undefined
      await scheduler.waitFor(Promise.all([...work, answering, cancelling]))
      expect(runs).toBeLessThanOrEqual(1)
      expect(runs).toBeGreaterThanOrEqual(isCancelled ? 0 : 1)
      expect(outcomes).toHaveLength(1)
    }),
    { numRuns: 200 },
  ),
)
