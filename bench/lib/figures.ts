/** Collects and reports figures: medians of interleaved rounds, tables for people, goals for both. */

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

export interface Table {
  readonly title: string
  readonly notes?: readonly string[]
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** A figure that the project promised, and the result. `undefined` if it could not be measured. */
export interface Goal {
  readonly figure: string
  readonly atLeast?: number
  readonly atMost?: number
  readonly unit: string
  readonly measured: number | undefined
}

export interface Section {
  /** Maps contender to figure, for programs. */
  readonly figures: Record<string, unknown>
  readonly tables: readonly Table[]
  readonly goals: readonly Goal[]
}

export const reached = ({ atLeast, atMost, measured }: Goal): boolean =>
  measured !== undefined &&
  (atLeast === undefined || measured >= atLeast) &&
  (atMost === undefined || measured <= atMost)

/** Returns A/B, or `undefined` if either is missing. */
export const ratio = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined || b === 0 ? undefined : a / b

/** Formats with significant digits: 23 456, 234, 23.4, 2.34, 0.234. */
export function formatNumber(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '–'
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 1 ? 2 : 3
  return value.toFixed(digits).replace(/\B(?=(\d{3})+$)/g, ' ')
}

/** Returns an integer for programs, or `null` if nothing was measured. */
export const formatInteger = (value: number | undefined): number | null =>
  value === undefined ? null : Math.round(value)

export const formatFactor = (value: number | undefined): string =>
  value === undefined ? '–' : `${formatNumber(value)}×`

/**
 * Measures every contender once per round, in turn, so that a slow minute of the machine affects all alike. A failing
 * contender is named on stderr and removed.
 */
export async function interleave<Name extends string, Sample>(
  names: readonly Name[],
  rounds: number,
  sample: (name: Name, round: number) => Promise<Sample>,
): Promise<Map<Name, Sample[]>> {
  const samples = new Map<Name, Sample[]>(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const [name, taken] of samples) {
      try {
        taken.push(await sample(name, round))
      } catch (error) {
        progress(`${name} is left out: ${error instanceof Error ? error.message : error}`)
        samples.delete(name)
      }
    }
  }
  return samples
}

/** stdout is for the result, so progress goes to stderr. */
export const progress = (line: string): void => {
  process.stderr.write(`${line}\n`)
}
