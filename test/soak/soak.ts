/**
 * Long runs that count what they did and name what they lost. Each is one file in `runs/`, called as its file is; what it
 * does in small is a test of `npm test`.
 */

import { random } from '../../packages/sluice/src/stores/contract-keys.ts'

/** What a run is given. */
export interface SoakContext {
  /** `count` in the long form; with `--scale` that part of it, and never less than one. */
  times(count: number): number
  /** How long a run goes on that goes by the clock. */
  readonly minutes: number
  /** What is random comes from this, so that a run can be repeated. */
  readonly seed: number
  /** From 0 up to 1. */
  random(): number
  /** Tells whoever watches how far it is. */
  progress(line: string): void
}

export interface SoakReport {
  readonly counted: { readonly [what: string]: number }
  /** Sentences. Empty is what everybody wants. */
  readonly lost: readonly string[]
}

/** What a file in `runs/` exports as `run`. */
export type Soak = (given: SoakContext) => Promise<SoakReport>

/** One after the other, so that none disturbs what another counts. Resolves with whether nothing was lost. */
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

/** A run that cannot be finished has shown nothing. */
const failedReport = (thrown: unknown): SoakReport => ({
  counted: {},
  lost: [`It broke off: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`],
})

function createRandom(seed: number): () => number {
  const below = random(seed)
  return () => below(2 ** 31) / 2 ** 31
}
