/** Data for the servers: as much as a diligent user collects in years. Returns the server's argument. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeClock } from 'sluice/node'
import type { Sport } from '../../servers/fitness/src/activity.ts'
import { createArchive } from '../../servers/fitness/src/archive.ts'
import { sqliteFile } from '../../servers/fitness/src/sqlite.ts'
import { toNewMemory } from '../../servers/memory/src/memory.ts'
import { sqliteArchive } from '../../servers/memory/src/sqlite/archive.ts'

const words = 'river stone garden window morning ladder pocket silver winter bridge candle market forest engine letter'
const wordAt = (at: number): string => words.split(' ')[at % 15] ?? ''
const sentence = (at: number): string =>
  Array.from({ length: 12 }, (_, n) => `${wordAt(at + n * 7)}${(at * (n + 3)) % 997}`).join(' ')

export async function fill(server: string, folder: string, rows: number): Promise<string | undefined> {
  mkdirSync(folder, { recursive: true })
  if (server === 'fitness') await fillFitness(folder, rows)
  if (server === 'memory') await fillMemory(folder, rows)
  return server === 'knowledge' ? fillKnowledge(folder, rows) : undefined
}

async function fillFitness(folder: string, rows: number): Promise<void> {
  const archive = createArchive(sqliteFile(join(folder, 'fitness.db')))
  const now = Math.floor(nodeClock.now() / 1000)
  const sports: readonly Sport[] = ['run', 'ride', 'swim']
  const activities = Array.from({ length: rows }, (_, at) => ({
    id: `file-${at}`,
    provider: 'files' as const,
    sport: sports[at % 3] ?? 'run',
    name: sentence(at).slice(0, 60),
    startedAt: now - at * 40_000 - 7200,
    durationS: 3000 + (at % 1000),
    distanceM: 9000 + (at % 3000),
    elevationM: at % 300,
    averageHr: 130 + (at % 30),
    maxHr: 170,
    averagePower: undefined,
    calories: 600,
  }))
  await archive.forTenant('default').add(activities)
  await archive.close()
}

async function fillMemory(folder: string, rows: number): Promise<void> {
  const archive = sqliteArchive(join(folder, 'memory.db'), nodeClock)
  const workspace = await archive.workspace('default', 'default')
  for (let from = 0; from < rows; from += 500)
    await workspace?.add(
      await Promise.all(
        Array.from({ length: Math.min(500, rows - from) }, (_, n) =>
          toNewMemory(sentence(from + n), {}, nodeClock.now()),
        ),
      ),
    )
  for (let at = 0; at < Math.min(rows, 3000); at++)
    await workspace?.relate({
      from: { name: `entity ${at % 200}` },
      type: 'knows',
      to: { name: `entity ${(at * 7) % 1000}` },
      confidence: 0.9,
    })
  await archive.close()
}

function fillKnowledge(folder: string, rows: number): string {
  const articles = join(folder, 'articles')
  mkdirSync(articles)
  for (let at = 0; at < Math.min(rows, 10_000); at++) {
    const body = Array.from({ length: 20 }, (_, n) => sentence(at * 20 + n)).join('\n\n')
    writeFileSync(join(articles, `article-${at}.md`), `# ${sentence(at).slice(0, 60)}\n\n${body}\n`)
  }
  return articles
}
