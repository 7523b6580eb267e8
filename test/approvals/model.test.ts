/**
 * Random schedules of propose, decide, spend, grant, revoke, crash, expire and store failure, on every store, against a
 * small model. The long form is `npm run soak -- approval-model`.
 */

import fc from 'fast-check'
import { RpcError } from 'sluice'
import { expect, onTestFinished, test } from 'vitest'
import { crowds, orders, playCrowd, proposeTogether } from './model/crowd.ts'
import { endBeforeEach, ends } from './model/ended-meanwhile.ts'
import { play, schedules } from './model/schedule.ts'
import type { InWorld } from './model/stores.ts'
import { inMemory, inSqlite, startPostgresWorlds, startRedisWorlds } from './model/stores.ts'
import type { ModelWorld } from './model/world.ts'
import { observedIn, operator, startProcess } from './model/world.ts'

const patient = { timeout: 120_000 }

const check = <T>(
  arbitrary: fc.Arbitrary<T>,
  inWorld: InWorld,
  numRuns: number,
  work: (world: ModelWorld, drawn: T) => Promise<void>,
) =>
  fc.assert(
    fc.asyncProperty(arbitrary, (drawn) => inWorld((world) => work(world, drawn))),
    { numRuns },
  )

test('tickets in memory behave like the model', patient, () => check(schedules, inMemory, 250, play))
test('tickets in SQLite behave like the model', patient, () => check(schedules, inSqlite, 20, play))
test('tickets in Redis behave like the model', patient, async () => {
  const { inRedis, stop } = await startRedisWorlds()
  onTestFinished(stop)
  await check(schedules, inRedis, 20, play)
  await check(crowds, inRedis, 20, playCrowd)
})

test('a ticket with concurrent users is spent once or never, in every order', patient, async () => {
  const { inPostgres, stop } = await startPostgresWorlds()
  onTestFinished(stop)
  await check(schedules, inPostgres, 20, play)
  await check(crowds, inPostgres, 20, playCrowd)
})

test('a ticket that many use at once is spent once or never, in every order', patient, async () => {
  await check(crowds, inMemory, 200, playCrowd)
  await check(crowds, inSqlite, 20, playCrowd)
})
test('processes that make the same call concurrently get the same ticket', patient, () =>
  check(orders, inMemory, 50, proposeTogether),
)

test.each(Object.entries(ends))('a ticket that is %s before a call claims it is not spent', async (_, end) => {
  expect(await endBeforeEach(inMemory, end)).toBeGreaterThanOrEqual(10)
})

test('a process that dies while it adds a ticket leaves none that can be approved for nothing', async () => {
  for (const after of [false, true])
    for (let access = 1, dies = true; dies; access++)
      await inMemory(async (world) => {
        const dying = startProcess(world)
        dies = (await dying.during({ kind: 'crash', access, after }, () => dying.call(0))) === 'died'
        const { approvals, call } = startProcess(world)
        const left = await world.store.list(['approvals', 'proposal'], { limit: 10 })
        let approved = 0
        for (const id of left.map(({ key }) => key.at(-1) ?? ''))
          await approvals.decide(id, { approved: true }, operator).then(
            () => approved++,
            async (thrown: unknown) => {
              expect(thrown).toBeInstanceOf(RpcError)
              expect(observedIn(await call(0, { approval_request_id: id, approved: true }))).toBe('approvalInvalid')
            },
          )
        expect((await approvals.list({ status: 'pending' })).tickets).toEqual([])
        await call(0)
        expect(world.ran, `killed at access ${access}`).toHaveLength(approved)
      })
})
