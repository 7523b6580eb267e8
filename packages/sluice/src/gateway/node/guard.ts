/**
 * Ends the processes of this gateway when the gateway dies, also by SIGKILL, when it can no longer do so itself. The
 * guard is a small shell that holds a pipe. Each process registers its group on that pipe before it becomes the
 * upstream's program, so no process is started without being registered.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { Logger } from '../../core/log.ts'

/** The guard outlives signals to the gateway's group or service, and ends at the end of its input. */
const script = `trap '' HUP INT TERM
groups=
while read -r verb group; do
  case $verb in
    add) groups="$groups $group" ;;
    remove)
      rest=
      for each in $groups; do [ "$each" = "$group" ] || rest="$rest $each"; done
      groups=$rest ;;
  esac
done
[ -n "$groups" ] || exit 0
for each in $groups; do kill -s TERM -- "-$each"; done
sleep 1
for each in $groups; do kill -s KILL -- "-$each"; done`

/** Runs in the new process: registers the group on descriptor 3, closes it, and becomes the program. */
const wrapper = 'printf "add %s\\n" "$$" >&3 && exec 3>&- && exec "$@"'

/** Returns the command that registers itself at the guard and then becomes `command`. */
export const guarded = (command: string, args: readonly string[]): readonly [string, string[]] => [
  '/bin/sh',
  ['-c', wrapper, 'sh', command, ...args],
]

/** Ends the process groups of this gateway when the gateway dies. */
export interface ProcessGuard {
  /** Returns the stream that becomes descriptor 3 of a guarded command. Starts the guard if needed. */
  channel(): Writable
  /** Remembers a group that was started, for the next guard if this one dies. */
  started(group: number): unknown
  /** Removes a group that has ended. Its number may soon belong to other processes. */
  ended(group: number): void
  close(): Promise<void>
}

/** Creates the guard. Its process starts with the first upstream process. */
export function createGuard(logger: Logger): ProcessGuard {
  const groups = new Set<number>()
  let guard: ChildProcess | undefined
  let isClosed = false

  function start(): Writable {
    const child = spawn('/bin/sh', ['-c', script], {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { PATH: '/usr/bin:/bin' },
      cwd: '/',
      detached: true,
    })
    guard = child
    // The upstreams keep the gateway running, not their guard.
    child.unref()
    const forget = (): void => {
      if (guard === child) guard = undefined
    }
    // A guard that cannot be started: the processes that register on its channel do not start either.
    child.on('error', forget)
    child.stdin.on('error', forget)
    child.on('exit', () => {
      forget()
      if (isClosed || guard || groups.size === 0) return
      logger.error({
        event: 'upstreamGuardEnded',
        message: 'The guard of the upstream processes ended: starting it again',
      })
      const input = start()
      for (const group of groups) input.write(`add ${group}\n`)
    })
    return child.stdin
  }

  return {
    channel: () => guard?.stdin ?? start(),
    started: (group) => groups.add(group),
    ended(group) {
      if (groups.delete(group)) guard?.stdin?.write(`remove ${group}\n`)
    },
    async close() {
      isClosed = true
      const child = guard
      guard = undefined
      if (!child || child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.stdin?.end()
      await exited
    },
  }
}
