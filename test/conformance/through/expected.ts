/** The scenarios of the suite that do not pass through the gateway, per cell, and why. All others pass. */

import type { Ran } from '../report.ts'
import { outcomeOf } from '../results.ts'
import type { Cell } from './serve-through.ts'

interface Deviation {
  readonly run: '2025-11-25' | '2026-07-28'
  readonly scenario: string
  readonly cells: readonly Cell[]
  /** `either`: it depends on which of two messages is faster. */
  readonly outcome: 'fail' | 'skipped' | 'either'
  readonly why: string
}

const old: readonly Cell[] = ['http-v1', 'stdio-v1']

export const deviations: readonly Deviation[] = [
  {
    ...{ run: '2025-11-25', scenario: 'server-sse-polling', outcome: 'skipped' },
    cells: ['http-v1', 'http-v2', 'stdio-v1', 'stdio-v2'],
    why: 'The upstream ends the stream of its own connection. The stream between client and gateway stays open.',
  },
  {
    ...{ run: '2025-11-25', scenario: 'tools-call-with-logging', outcome: 'fail' },
    cells: ['stdio-v1', 'stdio-v2'],
    why: 'On stdio a log message names no call, so it goes to the operator: the connection is shared by callers.',
  },
  {
    ...{ run: '2026-07-28', scenario: 'input-required-result-basic-elicitation', outcome: 'fail', cells: old },
    why: 'The scenario expects a key that the server chooses. A question before 2026-07-28 has no key.',
  },
  {
    ...{ run: '2026-07-28', scenario: 'input-required-result-capability-check', outcome: 'either', cells: old },
    why: 'A connection before 2026-07-28 declares capabilities once, so the upstream asks for more than this client has. It gives up before the other question has left, or after.',
  },
]

/** Returns what differs from the table, in sentences. */
export function surprises(cell: Cell, runs: readonly Ran[]): readonly string[] {
  return runs.flatMap(({ name, scored }) =>
    scored.flatMap((scenario) => {
      const known = deviations.find(
        ({ run, scenario: of, cells }) => run === name && of === scenario.name && cells.includes(cell),
      )
      const [outcome, expected] = [outcomeOf(scenario), known?.outcome ?? 'pass']
      return outcome === expected || (expected === 'either' && outcome !== 'skipped')
        ? []
        : [`UNEXPECTED  ${name} › ${scenario.name}: ${outcome}, expected ${expected}`]
    }),
  )
}
