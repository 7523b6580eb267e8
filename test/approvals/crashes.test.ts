/** P10. The long form, every point 50 times on SQLite and Redis, is `npm run soak -- approval-crashes`. */

import { expect, test } from 'vitest'
import { live, pointsOf, takeOver } from './crash.ts'
import { temporaryFolder } from './folder.ts'

/** One for each step: created, decided, spent, claimed, done, recorded. */
const steps = [
  'after set approvals proposal',
  'after swap approvals bound',
  'before swap approvals state approved',
  'after swap approvals state approved',
  'before swap approvals state running',
  'after swap approvals state running',
  'after swap once started',
  'before effect',
  'after effect',
  'before swap once done',
  'after swap once done',
  'after swap approvals state done',
]

test('P10: killed at each step of a ticket’s life: never two effects, nothing acknowledged lost', {
  timeout: 240_000,
}, async () => {
  const folder = temporaryFolder()
  expect(await pointsOf('sqlite', folder)).toEqual(expect.arrayContaining(steps))
  const lives = []
  // Two at a time: there are two cores, and each is a process.
  for (let n = 0; n < steps.length; n += 2)
    lives.push(...(await Promise.all(steps.slice(n, n + 2).map((point, m) => live('sqlite', folder, n + m, point)))))
  const { lost, ends } = await takeOver('sqlite', folder, lives)
  expect(lost).toEqual([])
  // Killed between the claim and the record nobody can know; everything else ends well.
  expect(ends).toEqual({ paid: 8, 'in doubt': 4 })
})
