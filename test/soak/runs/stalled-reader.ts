/** Clients that ask for a flood and read nothing of it: each is cut off at a mebibyte, and the process stays small. */

import { openDoor } from '../../fleet/door.ts'
import { stall } from '../../fleet/knocks.ts'
import type { Soak } from '../soak.ts'

/** A mebibyte each for a hundred of them, and what the garbage collector has not come to. */
const most = 200

export const run: Soak = async ({ times }) => {
  const count = times(100)
  const door = await openDoor()
  try {
    const before = await door.measure()
    let largest = 0
    let peak = 0
    for (let round = 0; round < count; round += 10) {
      await Promise.all(Array.from({ length: Math.min(10, count - round) }, () => stall(door.port)))
      const { flooded, rss } = await door.measure()
      largest = Math.max(largest, flooded)
      peak = Math.max(peak, rss - before.rss)
    }
    const after = await door.until(({ underway }) => underway === 0)
    const added = Math.ceil(peak / 1024 / 1024)
    const lost = []
    if (after.underway > 0) lost.push(`${after.underway} floods go on`)
    if (added > most) lost.push(`${added} MB were added, and ${most} are allowed`)
    return { counted: { 'stalled readers': count, 'KB said before the cut': largest >> 10, 'MB added': added }, lost }
  } finally {
    await door.stop()
  }
}
