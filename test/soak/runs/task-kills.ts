/** kill −9 before and after each write of a task's life and each effect, 50 times each, on SQLite, Redis and PostgreSQL. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../../kit/processes/postgres.ts'
import { startRedis } from '../../kit/processes/redis.ts'
import { bundleTaskLife, killTasksAt, lifeKinds, takeOverTasks, taskPointsOf } from '../../tasks/kills.ts'
import type { Soak, SoakReport } from '../soak.ts'

const temporary = (): string => mkdtempSync(join(tmpdir(), 'sluice-task-kills-'))
const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true })

export const run: Soak = async ({ times, progress }) => {
  const rounds = times(50)
  const redis = await startRedis(['--databases', String(rounds)])
  const postgres = await startPostgres(['fsync=on'])
  const home = temporary()
  const program = await bundleTaskLife(home)

  /** A folder and a database for each round: what earlier rounds left would only be read past. */
  async function rounded(name: string, storeOf: (round: number) => string): Promise<SoakReport> {
    const counted: { [what: string]: number } = {}
    const count = (what: string, by: number): void => {
      counted[`${what} on ${name}`] = (counted[`${what} on ${name}`] ?? 0) + by
    }
    const lost: string[] = []
    for (let round = 0; round < rounds; round++) {
      const place = { program, store: storeOf(round), folder: temporary() }
      const lives = []
      for (const [index, kind] of lifeKinds.entries())
        lives.push(...(await killTasksAt(place, kind, await taskPointsOf(place, kind), index * 10_000)))
      const { lost: more, ends } = await takeOverTasks(place, lives)
      lost.push(...more.map((each) => `${name}: ${each}`))
      for (const each of more) progress(`task-kills: lost: ${each}`)
      count('kills', lives.length)
      for (const [end, ended] of Object.entries(ends)) count(end, ended)
      progress(`task-kills: ${name}, round ${round + 1}, ${lives.length} kills, ${lost.length} lost`)
      remove(place.folder)
    }
    return { counted, lost }
  }

  const reports = [
    await rounded('sqlite', () => 'sqlite'),
    await rounded('redis', (round) => `${redis.url}/${round}`),
    await rounded('postgres', (round) => `${postgres.url}#round_${round}`),
  ]
  await Promise.all([redis.stop(), postgres.stop()])
  remove(home)
  return {
    counted: Object.assign({}, ...reports.map(({ counted }) => counted)) as SoakReport['counted'],
    lost: reports.flatMap(({ lost }) => lost),
  }
}
