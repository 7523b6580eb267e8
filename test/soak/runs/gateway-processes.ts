/**
 * A thousand sessions through a gateway in front of processes. A hundred upstream processes and ten gateways are killed
 * meanwhile: no process is left, and no call runs twice.
 */

import { killSessions } from '../../gateway/processes/kill-sessions.ts'
import type { Soak } from '../soak.ts'

export const run: Soak = async ({ times, random, progress }) => {
  const plan = { sessions: times(1000), childKills: times(100), gatewayKills: times(10), random, progress }
  const { sessions, childKills, gatewayKills, answered, failed, lost, memory } = await killSessions(plan)
  const [before = 0, after = 0] = memory
  const counted = {
    ...{ sessions, 'upstream kills': childKills, 'gateway kills': gatewayKills },
    ...{ 'calls answered': answered, 'calls failed': failed, 'KB before': before, 'KB after': after },
  }
  return { counted, lost }
}
