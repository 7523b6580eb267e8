/** Real processes that do work under idempotency keys on one store, and die at chosen points. */

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const worker = fileURLToPath(new URL('idempotency-worker.fixture.ts', import.meta.url))

export interface WorkerAnswer {
  readonly key: string
  readonly said: { readonly reason?: string; readonly state?: string; readonly content?: unknown }
}
export interface WorkerExit {
  readonly answers: readonly WorkerAnswer[]
  readonly code: number | null
  readonly signal: string | null
  readonly stderr: string
}

/** What the processes of one test share: a store, and a file with a line per effect. */
export interface WorkerFixture {
  /** `point` is where it dies; `ahead` is how far its clock is ahead. */
  run(keys: readonly string[], options?: { readonly point?: string; readonly ahead?: number }): Promise<WorkerExit>
  effects(): readonly string[]
  close(): void
}

/** On a SQLite file, or on the PostgreSQL of this URL. */
export function createWorkerFixture(url = ''): WorkerFixture {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-once-'))
  const path = join(directory, 'effects')
  return {
    run(keys, { point = '-', ahead = 0 } = {}) {
      const args = [worker, directory, point, String(ahead), ...keys]
      const env = { ...process.env, STORE_URL: url }
      const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
      const answers: WorkerAnswer[] = []
      let stderr = ''
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text
      })
      createInterface({ input: child.stdout }).on('line', (line) => answers.push(JSON.parse(line) as WorkerAnswer))
      return new Promise((resolve) => child.on('close', (code, signal) => resolve({ answers, code, signal, stderr })))
    },
    effects: () => (existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []),
    close: () => rmSync(directory, { recursive: true, force: true }),
  }
}

export interface KillReport {
  readonly kills: number
  readonly acknowledged: number
  /** Keys that were started and never answered, and are therefore in doubt. */
  readonly doubtful: number
  readonly lost: readonly string[]
}

/** Each round meets fresh keys, started ones and done ones, and dies after some answers. */
export async function killRepeatedly(
  kills: number,
  keyCount: number,
  random: () => number,
  url?: string,
): Promise<KillReport> {
  const { run, effects, close } = createWorkerFixture(url)
  const keys = Array.from({ length: keyCount }, (_, i) => `key-${i}`)
  const acknowledged = new Map<string, string>()
  const lost: string[] = []
  const collect = ({ answers }: WorkerExit): void => {
    for (const { key, said } of answers) {
      if (!said.content) continue
      const text = JSON.stringify(said)
      const before = acknowledged.get(key) ?? text
      if (before !== text) lost.push(`${key} was answered with ${before}, then with ${text}`)
      acknowledged.set(key, text)
    }
  }
  try {
    for (let round = 0; round < kills; round++) {
      const from = Math.floor(random() * keyCount)
      const order = [...keys.slice(from), ...keys.slice(0, from)]
      collect(await run(order, { point: `after ${1 + Math.floor(random() * (keyCount / 2))} answers` }))
    }
    collect(await run(keys))
    const done = effects()
    for (const key of new Set(done)) {
      const times = done.filter((each) => each === key).length
      if (times > 1) lost.push(`${key} had its effect ${times} times`)
    }
    for (const key of acknowledged.keys()) if (!done.includes(key)) lost.push(`${key} was answered and had no effect`)
  } finally {
    close()
  }
  return { kills, acknowledged: acknowledged.size, doubtful: keyCount - acknowledged.size, lost }
}
