/** kill −9 before and after each write of a ticket's life and each effect, 50 times each, on SQLite, Redis and PostgreSQL. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundled, livesUntil, pointsOf, takeOver } from '../../approvals/crash.ts'
import { startPostgres } from '../../services/postgres.ts'
import { startRedis } from '../../services/redis.ts'
import type { Report, Soak } from '../soak.ts'

const temporary = (): string => mkdtempSync(join(tmpdir(), 'sluice-crash-'))
const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true })

export const run: Soak = async ({ times, say }) => {
  const rounds = times(50)
  const redis = await startRedis(['--databases', String(rounds)])
  const server = await startPostgres(['fsync=on'])
  const home = temporary()
  const program = await bundled(home)

  /** A folder and a database for each round: what earlier ones left would only be read past. */
  async function rounded(name: string, storeOf: (round: number) => string): Promise<Report> {
    const counted: { [what: string]: number } = {}
    const count = (what: string, by: number): void => {
      counted[`${what} on ${name}`] = (counted[`${what} on ${name}`] ?? 0) + by
    }
    const lost: string[] = []
    for (let round = 0; round < rounds; round++) {
      const [store, folder] = [storeOf(round), temporary()]
      const points = await pointsOf(program, store, folder)
      const lives = await livesUntil(points, program, store, folder)
      const { lost: more, ends } = await takeOver(store, folder, lives)
      lost.push(...more.map((each) => `${name}: ${each}`))
      count('kills', lives.length)
      for (const [end, times] of Object.entries(ends)) count(end, times)
      say(`approval-crashes: ${name}, round ${round + 1}, ${points.length} points, ${lost.length} lost`)
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
