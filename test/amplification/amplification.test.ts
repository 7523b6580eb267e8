/** In small what `npm run soak -- amplification` does for every way in. */

import { expect, test } from 'vitest'
import { legKinds } from '../hostile/legs.ts'
import { amplified, cases } from './cases.ts'
import { amplificationOf, lineOf } from './measure.ts'

test('no known message costs a hundred times what an ordinary call of the same bytes does', async () => {
  const [inMemory] = legKinds
  if (!inMemory) return expect.unreachable()
  const measured = await amplificationOf(inMemory, amplified, cases, 2)
  expect(measured).toHaveLength(cases.length)
  expect(measured.filter(({ cpu, memory }) => cpu > 100 || memory > 100).map(lineOf)).toEqual([])
}, 120_000)
