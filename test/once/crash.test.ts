/** Real processes that really die: at every point between claim, effect and record there is never a second effect. */

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const node = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url))
const worker = fileURLToPath(new URL('fixtures/worker.ts', import.meta.url))
/** Past the deadline of whatever was started. */
const later = 60_000

let directory = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-once-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

interface Said {
  readonly key: string
  readonly said: { readonly reason?: string; readonly state?: string; readonly content?: unknown }
}
interface Ended {
  readonly answers: readonly Said[]
  readonly code: number | null
  readonly signal: string | null
  readonly stderr: string
}

/** `killAfter` answers it is killed from here, wherever it happens to be. */
async function run(
  keys: readonly string[],
  { point = '-', ahead = 0, killAfter = Number.POSITIVE_INFINITY } = {},
): Promise<Ended> {
  const child = spawn(node, [worker, directory, point, String(ahead), ...keys], { stdio: ['ignore', 'pipe', 'pipe'] })
  const answers: Said[] = []
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  createInterface({ input: child.stdout }).on('line', (line) => {
    answers.push(JSON.parse(line) as Said)
    if (answers.length === killAfter) child.kill('SIGKILL')
  })
  return new Promise((resolve) => child.on('close', (code, signal) => resolve({ answers, code, signal, stderr })))
}
const effects = (): readonly string[] => {
  const path = join(directory, 'effects')
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
}

test('killed before the claim, nothing happened, and the next process does the work', async () => {
  expect(await run(['k'], { point: 'before claim' })).toMatchObject({ signal: 'SIGKILL', answers: [] })
  const { answers } = await run(['k'])
  expect(answers[0]?.said).toHaveProperty('content')
  expect(effects()).toEqual(['k'])
})

test.each([
  ['after claim', 0],
  ['before effect', 0],
  ['after effect', 1],
  ['before record', 1],
])('killed %s, the call stays in doubt with %i effects, however often it is repeated', async (point, happened) => {
  expect(await run(['k'], { point })).toMatchObject({ signal: 'SIGKILL', answers: [] })
  const [soon, after, again] = [
    await run(['k']),
    await run(['k'], { ahead: later }),
    await run(['k'], { ahead: later }),
  ]
  expect(soon.answers[0]?.said).toMatchObject({ reason: 'conflict', state: 'in flight' })
  expect(after.answers[0]?.said).toMatchObject({ reason: 'conflict', state: 'in doubt' })
  expect(again.answers).toEqual(after.answers)
  expect(effects()).toHaveLength(happened)
})

test('killed after the record and before the answer, the next process gives the answer', async () => {
  expect(await run(['k'], { point: 'after record' })).toMatchObject({ signal: 'SIGKILL', answers: [] })
  const { answers } = await run(['k'])
  expect(answers[0]?.said).toHaveProperty('content')
  expect(effects()).toEqual(['k'])
})

test.each([
  ['exit', 3, ''],
  ['throw in a timer', 1, 'in a timer'],
  ['unhandled rejection', 1, 'nobody listens'],
])('a tool that ends its process (%s) is reported, and its call is in doubt', async (point, code, reported) => {
  const ended = await run(['k'], { point })
  expect(ended).toMatchObject({ code, answers: [] })
  expect(ended.stderr).toContain(reported)
  const { answers } = await run(['k'], { ahead: later })
  expect(answers[0]?.said).toMatchObject({ reason: 'conflict', state: 'in doubt' })
  expect(effects()).toEqual(['k'])
})

test('four processes at once with the same keys: each key has its effect once, in one of them', async () => {
  const keys = Array.from({ length: 20 }, (_, i) => `key-${i}`)
  const processes = await Promise.all([0, 1, 2, 3].map(() => run(keys)))
  expect([...effects()].sort()).toEqual([...keys].sort())
  const done = processes.flatMap(({ answers }) => answers.filter(({ said }) => said.content))
  // Who ran it says so in the answer: whoever else has one has the same.
  expect(new Set(done.map((answer) => JSON.stringify(answer))).size).toBe(keys.length)
  const others = processes.flatMap(({ answers }) => answers.filter(({ said }) => !said.content))
  expect(new Set(others.map(({ said }) => said.state))).not.toContain('in doubt')
})

test('killed again and again under load: no effect twice, and no acknowledged answer lost', async () => {
  const keys = Array.from({ length: 60 }, (_, i) => `key-${i}`)
  const acknowledged = new Map<string, string>()
  for (const killAfter of [1, 7, 20, 33, Number.POSITIVE_INFINITY]) {
    // From another start each time, so that each round meets fresh keys, started ones and done ones.
    const order = [...keys.slice(killAfter % 60), ...keys.slice(0, killAfter % 60)]
    const { answers } = await run(killAfter === Number.POSITIVE_INFINITY ? keys : order, { killAfter })
    for (const { key, said } of answers) {
      if (!said.content) continue
      expect(acknowledged.get(key) ?? JSON.stringify(said)).toBe(JSON.stringify(said))
      acknowledged.set(key, JSON.stringify(said))
    }
  }
  // Some were answered and some were cut off: otherwise the kills came too late to say anything.
  expect(acknowledged.size).toBeGreaterThan(0)
  expect(acknowledged.size).toBeLessThan(keys.length)
  expect(new Set(effects()).size).toBe(effects().length)
})
