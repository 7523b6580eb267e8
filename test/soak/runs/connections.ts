/**
 * 100,000 clients that connect and disconnect in every way: descriptors and tables are as before, no socket is half
 * closed, and the heap does not grow. `--scale 10` is the million, which takes hours.
 */

import { connectAndLeaveMany } from '../../kit/clients/connection-churn.client.ts'
import { isBackTo, startMeasuredServer } from '../../kit/processes/measured-server.ts'
import type { Soak } from '../soak.ts'

const samples = 40
/** The engine settles during the first samples: its compiled code and caches are not a leak. */
const settling = 10
/** MB per hour, and in a shorter run. */
const maxGrowth = 1

interface Sample {
  readonly hours: number
  readonly heap: number
}

export const run: Soak = async ({ times, progress }) => {
  const count = times(100_000)
  const server = await startMeasuredServer()
  try {
    await connectAndLeaveMany(server.port, Math.max(60, Math.min(count, 5_000)), 20)
    const before = await server.until(({ connections }) => connections === 0)
    const begin = performance.now()
    const received: Sample[] = []
    const step = Math.ceil(count / samples)
    for (let done = 0; done < count; done += step) {
      await connectAndLeaveMany(server.port, Math.min(step, count - done), 20)
      // Sessions without a client are kept for a while; they are not a leak either.
      const { heap } = await server.until(({ connections }) => connections === 0)
      received.push({ hours: (performance.now() - begin) / 3_600_000, heap: heap / 1024 / 1024 })
      progress(`${Math.min(done + step, count)} of ${count}: ${(heap / 1024 / 1024).toFixed(2)} MB of heap`)
    }
    const after = await server.until((held) => isBackTo(before, held))
    const settled = received.slice(settling)
    const slope = slopeOf(settled)
    const hours = (settled.at(-1)?.hours ?? 0) - (settled[0]?.hours ?? 0)
    const lost = []
    if (!isBackTo(before, after)) lost.push(`Before ${JSON.stringify(before)}, after ${JSON.stringify(after)}`)
    if (after.halfClosed > 0) lost.push(`${after.halfClosed} sockets wait for the server to close them`)
    if (slope * Math.min(hours, 1) > maxGrowth)
      lost.push(`The heap grows by ${slope.toFixed(1)} MB an hour, and ${maxGrowth} is allowed`)
    return {
      counted: {
        connections: count,
        'KB of heap before': before.heap >> 10,
        'KB of heap after': after.heap >> 10,
        'KB of heap an hour': Math.round(slope * 1024),
        descriptors: after.descriptors,
        'half closed': after.halfClosed,
      },
      lost,
    }
  } finally {
    await server.stop()
  }
}

/** The slope of the least-squares line. */
function slopeOf(all: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number): number => all.reduce((sum, each) => sum + of(each), 0) / all.length
  const [hours, heap] = [mean((each) => each.hours), mean((each) => each.heap)]
  const spread = mean((each) => (each.hours - hours) ** 2)
  return spread > 0 ? mean((each) => (each.hours - hours) * (each.heap - heap)) / spread : 0
}
