/** The CPU time of another process, from the scheduler of the kernel. */
import { readdirSync, readFileSync } from 'node:fs'

/** Returns microseconds so far, or `undefined` if the process has ended. */
export function cpuUsOf(pid: number | undefined): number | undefined {
  const tasks = `/proc/${pid}/task`
  try {
    const nanoseconds = readdirSync(tasks).map((task) =>
      Number.parseInt(readFileSync(`${tasks}/${task}/schedstat`, 'utf8'), 10),
    )
    return nanoseconds.reduce((sum, each) => sum + each, 0) / 1_000
  } catch {
    // The process, or one of its threads, may end between two of these reads.
    return undefined
  }
}
