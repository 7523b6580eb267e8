/** Starts the Sluice of this machine if it does not run, for clients that only know how to start commands. */

import { spawn } from 'node:child_process'
import type { Environment } from 'sluice/node'
import { CommandError, escapeControls } from '../output.ts'
import { programFile } from './own-command.ts'

/** How long `sluice start` may take on a busy machine. */
const startMs = 60_000
const pollMs = 200
/** How long to wait after the own process ended, because one that another client started may be about to answer. */
const otherStartMs = 3_000

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
  const child = spawn(process.execPath, [programFile, 'start', ...args], {
    ...{ cwd, env, detached: true },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  child.unref()
  const { stderr } = child
  let wrote = ''
  let until = Date.now() + startMs
  stderr.setEncoding('utf8').on('data', (text: string) => {
    wrote = (wrote + text).slice(-2000)
  })
  child.once('exit', () => {
    until = Math.min(until, Date.now() + otherStartMs)
  })
  print(`Sluice was not running. Started it as process ${child.pid}; "kill ${child.pid}" stops it.`)
  try {
    while (!signal.aborted && Date.now() < until) {
      if ((await isAnswering(origin)) && isReady()) return
      await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
  } finally {
    // The process lives on, and what it writes later has no reader.
    stderr.destroy()
  }
  const why = wrote.trim() === '' ? '' : `: ${escapeControls(wrote.trim())}`
  throw new CommandError(`Sluice did not start${why}\nTo try it yourself: sluice start ${args.join(' ')}`)
}
