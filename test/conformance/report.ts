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

/** Failing and warning checks by name, scenarios that showed nothing, then what was run without counting. */
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
  // The suite passes over what a server seems not to have: a fixture that got lost would go unnoticed.
  if (outcomeOf(scenario) === 'skipped') return [`SKIPPED  ${at}: no check passed or failed`]
  return scenario.checks
    .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
    .map(({ id, status, description, errorMessage }) => `${status}  ${at} › ${id}: ${errorMessage ?? description}`)
}
