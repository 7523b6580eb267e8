/** Starts the Sluice of this machine if it does not run, for clients that only know how to start commands. */

import { spawn } from 'node:child_process'
import type { Environment } from 'sluice/node'
import { CommandError } from '../output.ts'
import { programFile } from './own-command.ts'

/** How long `sluice start` may take on a busy machine. */
const startMs = 60_000
const pollMs = 200

export interface LocalStart {
  /** The arguments after `start`. */
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Environment
  readonly signal: AbortSignal
  /** Whether all that the caller needs is there, besides an answer. */
  isReady(): boolean
  print(text: string): void
}

/** Whether an HTTP server answers at the address. */
export const isAnswering = (origin: string): Promise<boolean> =>
  fetch(`${origin}/healthz`, { signal: AbortSignal.timeout(5_000) }).then(
    async (response) => {
      await response.body?.cancel()
      return true
    },
    () => false,
  )

/**
 * Starts `sluice start` in the background, and resolves when it answers. It lives on for the next client. If several
 * clients start it at once, the first takes the port and the others end.
 */
export async function startLocalSluice(origin: string, options: LocalStart): Promise<void> {
  const { args, cwd, env, signal, isReady, print } = options
  const child = spawn(process.execPath, [programFile, 'start', ...args], { cwd, env, detached: true, stdio: 'ignore' })
  child.unref()
  print(`Sluice was not running. Started it as process ${child.pid}; "kill ${child.pid}" stops it.`)
  const until = Date.now() + startMs
  while (!signal.aborted && Date.now() < until) {
    if ((await isAnswering(origin)) && isReady()) return
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  throw new CommandError(`Sluice did not start. Run it yourself to see why: sluice start ${args.join(' ')}`)
}
