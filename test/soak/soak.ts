/**
 * Long runs that count their work and name their losses. Each is one file in `runs/` and has its name; a short form of
 * it is a test of `npm test`.
 */

import { random } from '../../packages/sluice/src/stores/contract-keys.ts'

/** The input of a run. */
export interface SoakContext {
  /** `count` in the long form; with `--scale` that share of it, and at least one. */
  times(count: number): number
  /** The duration of a timed run. */
  readonly minutes: number
  /** The seed of all randomness, so that a run can be repeated. */
  readonly seed: number
  /** From 0 up to 1. */
  random(): number
  /** Reports the progress. */
  progress(line: string): void
}

export interface SoakReport {
  readonly counted: { readonly [what: string]: number }
  /** Losses as sentences; empty if there are none. */
  readonly lost: readonly string[]
}

/** What a file in `runs/` exports as `run`. */
export type Soak = (given: SoakContext) => Promise<SoakReport>

/** Runs one after the other, so that none disturbs another's counts. Resolves with whether nothing was lost. */
export async function runSoaks(
  runs: ReadonlyMap<string, Soak>,
  given: Omit<SoakContext, 'random'>,
  print: (line: string) => void,
): Promise<boolean> {
  let whole = true
  for (const [name, run] of runs) {
    const begin = performance.now()
    const { counted, lost } = await run({ ...given, random: createRandom(given.seed) }).catch(failedReport)
    const seconds = Math.round((performance.now() - begin) / 1000)
    const numbers = Object.entries(counted).map(([what, count]) => `${count.toLocaleString('en')} ${what}`)
    print(`${name}: ${[...numbers, `${lost.length} lost`, `${seconds} s`, `seed ${given.seed}`].join(', ')}`)
    for (const each of lost.slice(0, maxListed)) print(`  ${each}`)
    if (lost.length > maxListed) print(`  and ${lost.length - maxListed} more`)
    whole &&= lost.length === 0
  }
  return whole
}

const maxListed = 20

/** A run that cannot finish has proven nothing. */
const failedReport = (thrown: unknown): SoakReport => ({
  counted: {},
  lost: [`It failed: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`],
})

function createRandom(seed: number): () => number {
  const below = random(seed)
  return () => below(2 ** 31) / 2 ** 31
}
