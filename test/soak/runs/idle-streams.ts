/**
 * 5,000 idle streams, half for sessions and half for subscriptions: the memory that they add to an otherwise idle
 * process. Much of it is the engine's young generation, which grows with what survives; a busy process has it anyway.
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
