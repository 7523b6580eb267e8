/**
 * 10 failovers of a real Redis pair under writes: acknowledged writes are there, and no process stays with the server
 * that became a replica. Measures the longest time without an accepted write.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { redisStore } from '../../../packages/sluice/src/stores/redis.ts'
import { startRedisPair } from '../../kit/processes/redis-pair.ts'
import type { Soak } from '../soak.ts'

/** New connections go to the new primary at once, so it takes at most a second probe. */
const maxGapMs = 5000

export const run: Soak = async ({ times, progress }) => {
  const pair = await startRedisPair()
  const stores = Array.from({ length: 4 }, () => redisStore({ url: pair.url }))
  const acknowledged = new Map<string, string>()
  let [refused, longest, isOver, failovers] = [0, 0, false, 0]
  const write = async (store: (typeof stores)[number], mine: number): Promise<void> => {
    let last = performance.now()
    for (let number = 0; !isOver; number++) {
      const [key, value] = [`${mine}/${number % 50}`, String(number)]
      const wrote = await store.set(['soak', key], value).then(
        () => true,
        () => false,
      )
      if (wrote) {
        acknowledged.set(key, value)
        longest = Math.max(longest, performance.now() - last)
        last = performance.now()
      } else {
        refused++
        // The outcome of a write without an answer is unknown.
        acknowledged.delete(key)
      }
      await sleep(1)
    }
  }
  const lost: string[] = []
  try {
    const writing = stores.map(write)
    for (; failovers < times(10); failovers++) {
      await sleep(1000)
      await pair.failOver()
      progress(`${failovers + 1} failovers`)
    }
    await sleep(2000)
    isOver = true
    await Promise.all(writing)
    for (const [key, value] of acknowledged) {
      const found = await stores[0]?.get(['soak', key])
      if (found !== value) lost.push(`${key} was acknowledged as ${value} and is ${found}`)
    }
    if (longest > maxGapMs) lost.push(`A process wrote nothing for ${Math.round(longest)} ms`)
  } finally {
    isOver = true
    for (const store of stores) await store.close()
    await pair.stop()
  }
  return { counted: { failovers, 'writes refused': refused, 'ms longest without a write': Math.round(longest) }, lost }
}
