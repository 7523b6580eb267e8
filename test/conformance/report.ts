/** The report of a run: one table, then every check that did not pass. */

import type { Scenario } from './results.ts'
import { countOf, outcomeOf } from './results.ts'

export interface Ran {
  readonly name: string
  readonly exit: number
  /** These decide the result. */
  readonly scored: readonly Scenario[]
  /** Extensions and later additions: run and reported, but never a failure, here or in the suite. */
  readonly unscored: readonly Scenario[]
}

export const passed = ({ exit, scored }: Ran): boolean => exit === 0 && countOf(scored, 'FAILURE') === 0

const heads = ['run', 'scenarios', 'checks pass', 'fail', 'warning', 'skipped', 'info', 'exit', 'not scored']
const statuses = ['SUCCESS', 'FAILURE', 'WARNING', 'SKIPPED', 'INFO'] as const

function rowOf({ name, scored, unscored, exit }: Ran): readonly string[] {
  const counts = statuses.map((status) => String(countOf(scored, status)))
  return [name, passing(scored), ...counts, String(exit), unscored.length === 0 ? '–' : passing(unscored)]
}

const passing = (scenarios: readonly Scenario[]): string =>
  `${scenarios.filter((scenario) => outcomeOf(scenario) === 'pass').length}/${scenarios.length}`

export function table(runs: readonly Ran[]): string {
  const rows = [heads, ...runs.map(rowOf)]
  const widths = heads.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    row.map((cell, column) => (column === 0 ? cell.padEnd : cell.padStart).call(cell, widths[column] ?? 0)).join('  ')
  return rows.map(line).join('\n')
}

/** Failing and warning checks by name, scenarios without a result, then unscored ones. */
export function remarks({ name, scored, unscored }: Ran): readonly string[] {
  return [
    ...scored.flatMap((scenario) => remarksOn(name, scenario)),
    ...unscored.map((scenario) => {
      const [pass, fail] = [countOf([scenario], 'SUCCESS'), countOf([scenario], 'FAILURE')]
      return `NOT SCORED  ${name} › ${scenario.name}: ${outcomeOf(scenario)} (${pass} pass, ${fail} fail)`
    }),
  ]
}

function remarksOn(run: string, scenario: Scenario): readonly string[] {
  const at = `${run} › ${scenario.name}`
  // The suite skips what a server does not seem to have, so that a missing fixture would go unnoticed.
  if (outcomeOf(scenario) === 'skipped') return [`SKIPPED  ${at}: no check passed or failed`]
  return scenario.checks
    .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
    .map(({ id, status, description, errorMessage }) => `${status}  ${at} › ${id}: ${errorMessage ?? description}`)
}
