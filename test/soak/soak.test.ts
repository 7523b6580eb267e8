import { execFileSync, spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import type { Soak } from './soak.ts'
import { runSoaks } from './soak.ts'

const script = new URL('../../scripts/soak.ts', import.meta.url).pathname
const given = { times: (count: number) => count, minutes: 1, seed: 7, progress: () => {} }

async function tried(runs: { readonly [name: string]: Soak }): Promise<{ whole: boolean; said: string }> {
  const lines: string[] = []
  const whole = await runSoaks(new Map(Object.entries(runs)), given, (line) => lines.push(line))
  return { whole, said: lines.join('\n') }
}

test('the counts are printed, and a run without losses succeeds', async () => {
  const { whole, said } = await tried({ good: async () => ({ counted: { answers: 1_000_000 }, lost: [] }) })
  expect(whole).toBe(true)
  expect(said).toMatch(/^good: 1,000,000 answers, 0 lost, \d+ s, seed 7$/)
})

test('one loss, or a run that fails, fails the whole, and the others still run', async () => {
  const good: Soak = async () => ({ counted: { answers: 1 }, lost: [] })
  const lossy = await tried({ bad: async () => ({ counted: {}, lost: ['a byte of another tenant'] }), good })
  expect(lossy).toMatchObject({ whole: false, said: expect.stringMatching(/a byte of another tenant\ngood: 1/) })
  const broken = await tried({ bad: () => Promise.reject(new Error('no Redis here')), good })
  expect(broken).toMatchObject({ whole: false, said: expect.stringMatching(/no Redis here(?:.|\n)*good: 1/) })
})

test('the same seed gives the same random numbers', async () => {
  const chances = async (): Promise<readonly number[]> => {
    const drawn: number[] = []
    await tried({
      draw: async ({ random }) => {
        for (let i = 0; i < 1000; i++) drawn.push(random())
        return { counted: {}, lost: [] }
      },
    })
    return drawn
  }
  const drawn = await chances()
  expect(await chances()).toEqual(drawn)
  expect(drawn.every((each) => each >= 0 && each < 1)).toBe(true)
  expect(new Set(drawn).size).toBeGreaterThan(990)
})

test('the command runs the named runs, and refuses an unknown name', () => {
  const said = execFileSync(process.execPath, [script, 'crash-sqlite', '--scale', '0.005'], { encoding: 'utf8' })
  expect(said).toMatch(/^crash-sqlite: 1 kills, [\d,]+ acknowledged writes, 0 lost/)
  const unknown = spawnSync(process.execPath, [script, 'nonsense'], { encoding: 'utf8' })
  expect(unknown).toMatchObject({ status: 2, stderr: expect.stringContaining('crash-redis, crash-sqlite') })
})
