import { expect, test, vi } from 'vitest'
import type { Call } from '../core/call.ts'
import { aCall } from '../testing/call.ts'
import { refuseWithoutApprovals } from './refuse-without-approvals.ts'

const gatedBy = (approval: Call['target']['policy']['approval'], gated?: () => Promise<boolean>): Call => {
  const call = aCall()
  const target = { ...call.target, policy: { ...call.target.policy, approval } }
  return { ...call, target, ready: { run: () => ({}), needsApproval: gated } }
}

test.each<[string, Call, runs: boolean]>([
  ['never', gatedBy('never'), true],
  ['always', gatedBy('always'), false],
  ['a function that says false', gatedBy('depends', async () => false), true],
  ['a function that says true', gatedBy('depends', async () => true), false],
  ['a function that throws', gatedBy('depends', () => Promise.reject(new Error('x'))), false],
  ['a function that is not there', gatedBy('depends'), false],
])('approval by %s lets the call run: %s', async (_, call, runs) => {
  const work = vi.fn(async () => ({}))
  const served = refuseWithoutApprovals(work)(call)
  if (runs) await served
  else await expect(served).rejects.toMatchObject({ reason: 'forbidden' })
  expect(work).toHaveBeenCalledTimes(runs ? 1 : 0)
})
