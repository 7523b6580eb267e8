/**
 * `npm run soak`: the long versions of tests that `npm test` runs briefly.
 *
 *   npm run soak                          every run, one after the other
 *   npm run soak -- crash-sqlite fuzz     some of them
 *   npm run soak -- --list                their names
 *   npm run soak -- fuzz --minutes 60     the duration, for runs that are timed
 *   npm run soak -- --scale 0.01          a hundredth of it, for a trial
 *   npm run soak -- fuzz --seed 7         repeat the run of that seed
 *
 * Prints the counts; exits with 1 if anything was lost. A run is a file in test/soak/runs.
 */

import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import type { Soak } from '../test/soak/soak.ts'
import { runSoaks } from '../test/soak/soak.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'boolean', default: false },
    scale: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  },
})
const folder = new URL('../test/soak/runs/', import.meta.url)
const known = readdirSync(folder).map((file) => basename(file, '.ts'))
const [scale, minutes, seed] = [Number(values.scale), Number(values.minutes), Number(values.seed)]
const unknown = positionals.filter((name) => !known.includes(name))
if (values.list) {
  console.log(known.join('\n'))
} else if (unknown.length > 0 || !(scale > 0) || !(minutes > 0) || !Number.isInteger(seed)) {
  console.error(`Runs: ${known.join(', ')}. Options: --list, --scale 0.1, --minutes 10, --seed 1 (a whole number)`)
  process.exitCode = 2
} else {
  const runs = new Map<string, Soak>()
  for (const name of positionals.length > 0 ? positionals : known)
    runs.set(name, (await import(new URL(`${name}.ts`, folder).href)).run)
  const options = {
    times: (count: number) => Math.max(1, Math.round(count * scale)),
    progress: (line: string) => console.error(line),
    minutes,
    seed,
  }
  process.exitCode = (await runSoaks(runs, options, console.log)) ? 0 : 1
}
