/** P10. The long form, every point 50 times on SQLite and Redis, is `npm run soak -- approval-crashes`. */

import { expect, test } from 'vitest'
import { temporaryFolder } from '../kit/processes/temporary-folder.ts'
import { bundleProgram, killAtEach, pointsOf, takeOver } from './crash.ts'

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

test("P10: killed at each step of a ticket's life: never two effects, nothing acknowledged lost", {
  timeout: 240_000,
}, async () => {
  const folder = temporaryFolder()
  const program = await bundleProgram(folder)
  expect(await pointsOf(program, 'sqlite', folder)).toEqual(expect.arrayContaining(steps))
  const lives = await killAtEach(steps, program, 'sqlite', folder)
  const { lost, ends } = await takeOver('sqlite', folder, lives)
  expect(lost).toEqual([])
  // Killed between spending and recording, the outcome is unknown; every other one ends well.
  expect(ends).toEqual({ paid: 8, 'in doubt': 4 })
})
