/**
 * `npm run soak`: the long forms of what `npm test` does in short.
 *
 *   npm run soak                          every run, one after the other
 *   npm run soak -- crash-sqlite fuzz     some of them
 *   npm run soak -- --list                their names
 *   npm run soak -- fuzz --minutes 60     how long, for runs that go by the clock
 *   npm run soak -- --scale 0.01          a hundredth of it, to try
 *   npm run soak -- fuzz --seed 7         as it was that time
 *
 * Prints what was counted; ends with 1 if anything was lost. A run is a file in test/soak/runs.
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
  const given = {
    times: (count: number) => Math.max(1, Math.round(count * scale)),
    progress: (line: string) => console.error(line),
    minutes,
    seed,
  }
  process.exitCode = (await runSoaks(runs, given, console.log)) ? 0 : 1
}
