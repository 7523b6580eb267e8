/** P10. The long form, every point 50 times on SQLite, Redis and PostgreSQL, is `npm run soak -- approval-crashes`. */

import { expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../kit/processes/postgres.ts'
import { temporaryFolder } from '../kit/processes/temporary-folder.ts'
import { bundleProgram, killAtEach, pointsOf, takeOver } from './crash.ts'

async function startedPostgres(): Promise<string> {
  const server = await startPostgres(['fsync=on'])
  onTestFinished(() => server.stop())
  return server.url
}

/** One for each step: created, decided, claimed, spent, done, recorded. */
const steps = [
  'after set approvals proposal',
  'after swap approvals bound',
  'before swap approvals state approved',
  'after swap approvals state approved',
  'after swap once started',
  'before swap approvals state running',
  'after swap approvals state running',
  'before effect',
  'after effect',
  'before swap once done',
  'after swap once done',
  'after swap approvals state done',
]

test.each(['SQLite', 'PostgreSQL'])(
  'P10: killed at each step of a ticket’s life on %s: never two effects, nothing acknowledged lost',
  {
    timeout: 240_000,
  },
  async (kind) => {
    const folder = temporaryFolder()
    const program = await bundleProgram(folder)
    const store = kind === 'SQLite' ? 'sqlite' : await startedPostgres()
    expect(await pointsOf(program, store, folder)).toEqual(expect.arrayContaining(steps))
    const lives = await killAtEach(steps, program, store, folder)
    const { lost, ends } = await takeOver(store, folder, lives)
    expect(lost).toEqual([])
    // Killed between the spending and the record: whether the effect happened is unknown. Every other kill ends well.
    expect(ends).toEqual({ paid: 8, 'in doubt': 4 })
  },
)
