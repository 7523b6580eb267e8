/** What the person who ran the suite reads: one table, then whatever did not simply pass. */

import type { Scenario } from './results.ts'
import { countOf, outcomeOf } from './results.ts'

export interface Ran {
  readonly name: string
  readonly exit: number
  /** These decide. */
  readonly scored: readonly Scenario[]
  /** Extensions and what came after the revision: run and reported, and neither here nor in the suite a failure. */
  readonly unscored: readonly Scenario[]
}

export const passed = ({ exit, scored }: Ran): boolean => exit === 0 && countOf(scored, 'FAILURE') === 0

const heads = ['run', 'scenarios', 'pass', 'fail', 'warning', 'skipped', 'info', 'exit']

function rowOf({ name, scored, exit }: Ran): readonly string[] {
  const passing = scored.filter((scenario) => outcomeOf(scenario) === 'pass').length
  const counts = (['SUCCESS', 'FAILURE', 'WARNING', 'SKIPPED', 'INFO'] as const).map((status) => countOf(scored, status))
  return [name, `${passing}/${scored.length}`, ...counts.map(String), String(exit)]
}

export function table(runs: readonly Ran[]): string {
  const rows = [heads, ...runs.map(rowOf)]
  const widths = heads.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    row.map((cell, column) => (column === 0 ? cell.padEnd : cell.padStart).call(cell, widths[column] ?? 0)).join('  ')
  return rows.map(line).join('\n')
}

/** Failing and warning checks by name, then what was run without counting. */
export function remarks({ name, scored, unscored }: Ran): readonly string[] {
  return [
    ...scored.flatMap((scenario) => remarksOn(name, scenario)),
    ...unscored.map((scenario) => {
      const [pass, fail] = [countOf([scenario], 'SUCCESS'), countOf([scenario], 'FAILURE')]
      return `not scored  ${name} › ${scenario.name}: ${outcomeOf(scenario)} (${pass} pass, ${fail} fail)`
    }),
  ]
}

const remarksOn = (run: string, { name, checks }: Scenario): readonly string[] =>
  checks
    .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
    .map(({ id, status, description, errorMessage }) => `${status}  ${run} › ${name} › ${id}: ${errorMessage ?? description}`)
