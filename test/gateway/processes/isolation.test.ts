/** The short form of the soak run `gateway-isolation`. */

import { expect, test } from 'vitest'
import { hammerScopes } from './isolation-load.ts'

test('callers of two tenants see no byte of each other through process upstreams, in any scope', async () => {
  const { answers, marks, problems } = await hammerScopes(3000)
  expect(problems).toEqual([])
  expect(answers).toBeGreaterThanOrEqual(3000)
  expect(marks).toBeGreaterThan(answers)
})
