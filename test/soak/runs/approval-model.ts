/**
 * Schedules of tickets, grants, crashes and failures against the model, crowds around one ticket, and tickets that end
 * while a call uses them, on every store.
 */

import fc from 'fast-check'
import { crowds, playCrowd } from '../../approvals/model/crowd.ts'
import { endBeforeEach, ends } from '../../approvals/model/ended-meanwhile.ts'
import { play, schedules } from '../../approvals/model/schedule.ts'
import type { InWorld } from '../../approvals/model/stores.ts'
import { inMemory, inSqlite, startPostgresWorlds, startRedisWorlds } from '../../approvals/model/stores.ts'
import type { ModelWorld } from '../../approvals/model/world.ts'
import type { Soak } from '../soak.ts'

export const run: Soak = async ({ times, seed, progress }) => {
  const { inRedis, stop } = await startRedisWorlds()
  const { inPostgres, stop: stopPostgres } = await startPostgresWorlds()
  const counted: { [what: string]: number } = {}
  const lost: string[] = []
  async function check<T>(
    what: string,
    arbitrary: fc.Arbitrary<T>,
    inWorld: InWorld,
    numRuns: number,
    work: (world: ModelWorld, drawn: T) => Promise<void>,
  ): Promise<void> {
    const property = fc.asyncProperty(arbitrary, (drawn) => inWorld((world) => work(world, drawn)))
    const details = await fc.check(property, { numRuns, seed })
    counted[what] = details.numRuns
    if (details.failed) lost.push(`${what}: ${fc.defaultReportMessage(details) ?? 'it failed'}`)
    progress(`approval-model: ${details.numRuns} ${what}, ${lost.length} lost`)
  }
  for (const [name, inWorld, part] of [
    ['memory', inMemory, 1],
    ['sqlite', inSqlite, 0.2],
    ['redis', inRedis, 0.2],
    ['postgres', inPostgres, 0.2],
  ] as const) {
    await check(`schedules in ${name}`, schedules, inWorld, times(10_000 * part), play)
    await check(`crowds in ${name}`, crowds, inWorld, times(10_000 * part), playCrowd)
    for (const [how, end] of Object.entries(ends))
      await endBeforeEach(inWorld, end).then(
        (accesses) => {
          const what = `accesses of a call in ${name}, each after a ticket that ended`
          counted[what] = (counted[what] ?? 0) + accesses
        },
        (thrown: unknown) => lost.push(`a ticket that is ${how}, in ${name}: ${String(thrown)}`),
      )
  }
  await stop()
  await stopPostgres()
  return { counted, lost }
}
