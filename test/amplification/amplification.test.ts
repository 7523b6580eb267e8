/**
 * The short form of `npm run soak -- amplification`, which covers every path. That run checks the promised bound of
 * 100; this one allows a busy machine four times as much, and still catches multiplication, which costs thousands.
 */

import { expect, test } from 'vitest'
import { messagePaths } from '../kit/clients/message-paths.ts'
import { amplified, cases } from './cases.ts'
import { amplificationOf, lineOf } from './measure.ts'

const bound = 400

test('no known message costs many times what an ordinary call of the same size does', async () => {
  const [inMemory] = messagePaths
  if (!inMemory) return expect.unreachable()
  const measured = await amplificationOf(inMemory, amplified, cases, 2)
  expect(measured).toHaveLength(cases.length)
  expect(measured.filter(({ cpu, memory }) => cpu > bound || memory > bound).map(lineOf)).toEqual([])
}, 120_000)
