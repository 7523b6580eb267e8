/** The short form of the soak run `gateway-processes`. */

import { afterEach, expect, test } from 'vitest'
import { random } from '../../../packages/sluice/src/stores/contract-keys.ts'
import { killAll } from '../../kit/processes/child.ts'
import { killSessions } from './kill-sessions.ts'

afterEach(killAll)

test('sessions while processes and the gateway are killed: no process is left, no call runs twice', async () => {
  const below = random(7)
  const report = await killSessions({
    sessions: 24,
    childKills: 4,
    gatewayKills: 1,
    random: () => below(2 ** 31) / 2 ** 31,
  })
  expect(report.lost).toEqual([])
  expect(report).toMatchObject({ gatewayKills: 1, answered: expect.any(Number) })
  expect(report.childKills).toBeGreaterThan(0)
  expect(report.answered).toBeGreaterThan(24)
})
