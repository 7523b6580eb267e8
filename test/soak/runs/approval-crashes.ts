/** kill −9 before and after each write of a ticket's life and each effect, 50 times each, on SQLite, Redis and PostgreSQL. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleProgram, killAtEach, pointsOf, takeOver } from '../../approvals/crash.ts'
import { startPostgres } from '../../kit/processes/postgres.ts'
import { startRedis } from '../../kit/processes/redis.ts'
import type { Soak, SoakReport } from '../soak.ts'

const temporary = (): string => mkdtempSync(join(tmpdir(), 'sluice-crash-'))
const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true })

export const run: Soak = async ({ times, progress }) => {
  const rounds = times(50)
  const redis = await startRedis(['--databases', String(rounds)])
  const server = await startPostgres(['fsync=on'])
  const home = temporary()
  const program = await bundleProgram(home)

  /** A folder and a database per round, because the data of earlier rounds would only slow it down. */
  async function rounded(name: string, storeOf: (round: number) => string): Promise<SoakReport> {
    const counted: { [what: string]: number } = {}
    const count = (what: string, by: number): void => {
      counted[`${what} on ${name}`] = (counted[`${what} on ${name}`] ?? 0) + by
    }
    const lost: string[] = []
    for (let round = 0; round < rounds; round++) {
      const [store, folder] = [storeOf(round), temporary()]
      const points = await pointsOf(program, store, folder)
      const lives = await killAtEach(points, program, store, folder)
      const { lost: more, ends } = await takeOver(store, folder, lives)
      lost.push(...more.map((each) => `${name}: ${each}`))
      count('kills', lives.length)
      for (const [end, times] of Object.entries(ends)) count(end, times)
      progress(`approval-crashes: ${name}, round ${round + 1}, ${points.length} points, ${lost.length} lost`)
      remove(folder)
    }
    return { counted, lost }
  }

  const [sqlite, shared, postgres] = await Promise.all([
    rounded('sqlite', () => 'sqlite'),
    rounded('redis', (round) => `${redis.url}/${round}`),
    rounded('postgres', (round) => `${server.url}#round_${round}`),
  ])
  await Promise.all([redis.stop(), server.stop()])
  remove(home)
  return {
    counted: { ...sqlite.counted, ...shared.counted, ...postgres.counted },
    lost: [...sqlite.lost, ...shared.lost, ...postgres.lost],
  }
}
