/** 100,000 clients that come and go in every way there is: heap, descriptors and tables are as before. */

import { isAsBefore, openDoor } from '../../fleet/door.ts'
import { knockAll } from '../../fleet/knocks.ts'
import type { Soak } from '../soak.ts'

/** What the engine keeps of having run for long: compiled code and its feedback. */
const slack = 4

export const run: Soak = async ({ times, say }) => {
  const count = times(100_000)
  const door = await openDoor()
  try {
    // The engine settles first: what it compiles and caches on the way is no leak.
    await knockAll(door.port, Math.max(60, Math.min(count, 5_000)), 20)
    const before = await door.until(({ connections }) => connections === 0)
    const step = Math.ceil(count / 10)
    for (let done = 0; done < count; done += step) {
      await knockAll(door.port, Math.min(step, count - done), 20)
      say(`${done + step} of ${count}`)
    }
    const after = await door.until((held) => isAsBefore(before, held))
    const grown = (after.heap - before.heap) / 1024 / 1024
    const lost = []
    if (!isAsBefore(before, after)) lost.push(`Before ${JSON.stringify(before)}, after ${JSON.stringify(after)}`)
    if (grown > slack) lost.push(`The heap grew by ${grown.toFixed(1)} MB, and ${slack} are allowed`)
    return {
      counted: {
        connections: count,
        'KB of heap before': before.heap >> 10,
        'KB of heap after': after.heap >> 10,
        descriptors: after.descriptors,
      },
      lost,
    }
  } finally {
    await door.stop()
  }
}
