/** No tool of the five servers blocks the others: the longest event-loop turn with the largest input. */

import { expect, test } from 'vitest'
import { casesOf } from './cases.ts'
import { lineOf, longestTurns } from './measure.ts'

test('no tool blocks the event loop for more than 50 ms, whatever its input', { timeout: 600_000 }, async () => {
  const { measured, missing } = await longestTurns(casesOf(0.05), 1_000)
  expect(missing, 'tools without a row in cases.ts').toEqual([])
  expect(measured.filter(({ cpuMs }) => cpuMs > 50).map(lineOf)).toEqual([])
})
