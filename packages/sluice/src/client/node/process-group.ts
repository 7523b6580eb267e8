/** The end of a process and of everything it started. */

import type { ChildProcess } from 'node:child_process'
import type { Clock } from '../../core/clock.ts'
import { withTimeout } from '../../core/with-timeout.ts'

const waitAfterEofMs = 2000
const waitAfterTermMs = 2000

/** Ends a process by end of input, then SIGTERM, then SIGKILL, each to the whole group. Resolves when it has ended. */
export async function endGroup(child: ChildProcess, exited: Promise<void>, clock: Clock): Promise<void> {
  child.stdin?.end()
  // Its answers are not read any longer; a process that writes on must not wait for that.
  child.stdout?.destroy()
  if (!(await endsWithin(exited, waitAfterEofMs, clock))) {
    signalGroup(child, 'SIGTERM')
    if (!(await endsWithin(exited, waitAfterTermMs, clock))) signalGroup(child, 'SIGKILL')
    await exited
  }
}

/** Sends a signal to the group of a process that was started with `detached`. */
export function signalGroup(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return
  try {
    if (process.platform === 'win32') child.kill(signal)
    else process.kill(-child.pid, signal)
  } catch {
    // The group has ended.
  }
}

const endsWithin = (ended: Promise<void>, ms: number, clock: Clock): Promise<boolean> =>
  withTimeout(ended, ms, clock).then(
    () => true,
    () => false,
  )
