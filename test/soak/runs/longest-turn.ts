/** The longest event-loop turn with the largest input of every tool, on servers with much data. Prints the table. */

import { casesOf } from '../../event-loop/cases.ts'
import { lineOf, longestTurns } from '../../event-loop/measure.ts'
import type { Soak } from '../soak.ts'

const maxMs = 50

export const run: Soak = async ({ times, progress }) => {
  const { measured, missing } = await longestTurns(casesOf(1), times(20_000), progress)
  const longest = Math.max(...measured.map(({ cpuMs }) => cpuMs))
  return {
    counted: { cases: measured.length, 'ms in the longest turn': Math.round(longest) },
    lost: [
      ...missing.map((tool) => `${tool} was not measured`),
      ...measured.filter(({ cpuMs }) => cpuMs > maxMs).map((each) => `${lineOf(each)} is over ${maxMs} ms`),
    ],
  }
}
