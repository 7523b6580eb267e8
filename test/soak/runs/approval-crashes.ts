/** kill −9 before and after each write of a ticket's life and each effect, 50 times each, on SQLite and Redis. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Life } from '../../approvals/crash.ts'
import { live, pointsOf, takeOver } from '../../approvals/crash.ts'
import { startRedis } from '../../services/redis.ts'
import type { Soak } from '../soak.ts'

export const run: Soak = async ({ times, say }) => {
  const redis = await startRedis()
  const counted: { [what: string]: number } = {}
  const lost: string[] = []
  for (const store of ['sqlite', redis.url]) {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-crash-'))
    const name = store === 'sqlite' ? store : 'redis'
    const points = await pointsOf(store, folder)
    let amount = 0
    for (let round = 0; round < times(50); round++) {
      const lives: Life[] = []
      for (let n = 0; n < points.length; n += 2)
        lives.push(...(await Promise.all(points.slice(n, n + 2).map((point) => live(store, folder, ++amount, point)))))
      const { lost: more, ends } = await takeOver(store, folder, lives)
      lost.push(...more.map((each) => `${name}: ${each}`))
      for (const [end, count] of Object.entries(ends))
        counted[`${end} on ${name}`] = (counted[`${end} on ${name}`] ?? 0) + count
      say(`approval-crashes: ${name}, round ${round + 1}, ${points.length} points, ${lost.length} lost`)
    }
    counted[`kills on ${name}`] = amount
    rmSync(folder, { recursive: true, force: true })
  }
  await redis.stop()
  return { counted, lost }
}
