/**
 * The cost of the worst known message of every method, on every path, compared with an ordinary call of the same size.
 */

import { amplified, cases } from '../../amplification/cases.ts'
import type { Amplification } from '../../amplification/measure.ts'
import { amplificationOf, lineOf } from '../../amplification/measure.ts'
import { messagePaths } from '../../kit/clients/message-paths.ts'
import type { Soak } from '../soak.ts'

const maxTimes = 100

/** The mounts in frameworks run the same code. */
const paths = messagePaths.filter(({ name }) => !name.includes(' mounted into '))

export const run: Soak = async ({ times, progress }) => {
  const measured: Amplification[] = []
  for (const kind of paths) {
    const found = await amplificationOf(kind, amplified, cases, times(5))
    for (const each of found) progress(lineOf(each))
    measured.push(...found)
  }
  const highest = (of: 'cpu' | 'memory'): number => Math.ceil(Math.max(...measured.map((each) => each[of])))
  return {
    counted: {
      'ways in': paths.length,
      methods: new Set(cases.map(({ method }) => method)).size,
      measured: measured.length,
      'times the CPU at most': highest('cpu'),
      'times the memory at most': highest('memory'),
    },
    lost: measured
      .filter(({ cpu, memory }) => cpu > maxTimes || memory > maxTimes)
      .map((each) => `${lineOf(each)} is over ${maxTimes} times`),
  }
}
