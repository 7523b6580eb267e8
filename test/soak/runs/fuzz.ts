/** Repeats every property test with other seeds, until the time is up. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import type { Soak } from '../soak.ts'

const root = new URL('../../../', import.meta.url).pathname
const vitest = `${root}node_modules/vitest/vitest.mjs`

export const run: Soak = async ({ minutes, times, random, progress }) => {
  const files = globSync(['{packages,servers}/*/src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root })
  const properties = files.filter((file) => readFileSync(root + file, 'utf8').includes("from 'fast-check'"))
  const until = performance.now() + minutes * 60_000 * (times(1000) / 1000)
  const lost: string[] = []
  let rounds = 0
  do {
    const seed = Math.floor(random() * 2 ** 31)
    progress(`fuzz: round ${++rounds}, seed ${seed}, ${properties.length} files`)
    const said = await trial(properties, seed)
    if (said) lost.push(`SLUICE_FUZZ_SEED=${seed} npx vitest run ${properties.join(' ')}\n${said}`)
  } while (performance.now() < until && lost.length === 0)
  return { counted: { rounds, 'files of properties': properties.length }, lost }
}

/** Returns `undefined`, or what failed. */
async function trial(files: readonly string[], seed: number): Promise<string | undefined> {
  const child = spawn(process.execPath, [vitest, 'run', '--reporter=dot', ...files], {
    cwd: root,
    env: { ...process.env, SLUICE_FUZZ_SEED: String(seed) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      said += String(text)
    })
  const [code] = await once(child, 'close')
  return code === 0 ? undefined : said
}
