/** 5,000 streams that only wait, half of them of sessions, half subscriptions: what they add to the process. */

import { openDoor } from '../../fleet/door.ts'
import { openStreams, warm } from '../../fleet/knocks.ts'
import type { Soak } from '../soak.ts'

const most = 150

export const run: Soak = async ({ times }) => {
  const count = times(5_000)
  const door = await openDoor()
  try {
    // A process that has worked: the engine's young generation, tens of megabytes, has its size.
    await warm(door.port, 20_000)
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
