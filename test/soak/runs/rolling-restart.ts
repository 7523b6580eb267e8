/** Three processes behind HAProxy, restarted one after the other under load: two minutes with SIGTERM, two with kill −9. */

import { startFleet } from '../../fleet/fleet.ts'
import type { Failure, Rolled } from '../../fleet/rolling.ts'
import { roll } from '../../fleet/rolling.ts'
import type { Soak } from '../soak.ts'

export const run: Soak = async ({ times, say }) => {
  const ms = 1000 * times(120)
  const fleet = await startFleet({ KEYS: 'yes', NOTICE_MS: '3000' })
  const go = (signal: 'SIGTERM' | 'SIGKILL'): Promise<Rolled> => {
    const until = performance.now() + ms
    return roll(fleet, { signal, callers: 16, goOn: () => performance.now() < until })
  }
  try {
    const gentle = await go('SIGTERM')
    say(`SIGTERM: ${JSON.stringify({ ...gentle.by, restarts: gentle.restarts })}`)
    const hard = await go('SIGKILL')
    say(`SIGKILL: ${JSON.stringify({ ...hard.by, restarts: hard.restarts, inFlight: hard.inFlight.length })}`)
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
