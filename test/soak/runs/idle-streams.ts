/**
 * 5,000 streams that only wait, half of them of sessions, half subscriptions: what they add to a process that has done
 * nothing else. Much of it is the engine's young generation, which grows by what survives: a process that has worked has it.
 */

import { openStreams } from '../../kit/clients/connection-churn.client.ts'
import { startMeasuredServer } from '../../kit/processes/measured-server.ts'
import type { Soak } from '../soak.ts'

const most = 150

export const run: Soak = async ({ times }) => {
  const count = times(5_000)
  const door = await startMeasuredServer()
  try {
    for (const stream of await openStreams(door.port, 100)) stream.destroy()
    const before = await door.until(({ listeners }) => listeners === 0)
    await openStreams(door.port, count)
    const after = await door.measure()
    const added = Math.ceil((after.rss - before.rss) / 1024 / 1024)
    const lost = []
    if (after.listeners !== count) lost.push(`${count} streams were opened and ${after.listeners} are held`)
    if (added > most) lost.push(`${added} MB were added, and ${most} are allowed`)
    return { counted: { 'idle streams': count, 'MB added': added }, lost }
  } finally {
    await door.stop()
  }
}
