/** Three processes behind HAProxy, restarted one after the other under load: two minutes with SIGTERM, two with kill −9. */

import type { Failure, RollingRestartReport } from '../../fleet/rolling-restart.ts'
import { rollingRestart } from '../../fleet/rolling-restart.ts'
import { startFleet } from '../../kit/processes/fleet.ts'
import type { Soak } from '../soak.ts'

export const run: Soak = async ({ times, progress }) => {
  const ms = 1000 * times(120)
  const fleet = await startFleet({ KEYS: 'yes', NOTICE_MS: '3000' })
  const go = (signal: 'SIGTERM' | 'SIGKILL'): Promise<RollingRestartReport> => {
    const until = performance.now() + ms
    return rollingRestart(fleet, { signal, callers: 16, shouldContinue: () => performance.now() < until })
  }
  try {
    const gentle = await go('SIGTERM')
    progress(`SIGTERM: ${JSON.stringify({ ...gentle.by, restarts: gentle.restarts })}`)
    const hard = await go('SIGKILL')
    progress(`SIGKILL: ${JSON.stringify({ ...hard.by, restarts: hard.restarts, inFlight: hard.inFlight.length })}`)
    return {
      counted: {
        'calls with SIGTERM': gentle.calls,
        restarts: gentle.restarts,
        'calls with kill −9': hard.calls,
        kills: hard.restarts,
        'failed in flight on the killed process': hard.inFlight.length,
      },
      lost: [
        ...[...gentle.inFlight, ...gentle.lost].map((each) => `SIGTERM: ${toText(each)}`),
        ...gentle.exits.filter((exit) => exit !== 0).map((exit) => `A process ended with ${exit} on SIGTERM`),
        ...hard.lost.map((each) => `kill −9: ${toText(each)}`),
      ],
    }
  } finally {
    await fleet.stop()
  }
}

const toText = ({ id, server, problem }: Failure): string => `${id} on ${server}: ${problem}`
