/** Runs the command as this process: its arguments, environment, terminal and signals. */

import { takeEnvironment } from 'sluice/node'
import { processTerminal } from './output.ts'
import { run } from './program.ts'

export async function runProcess(): Promise<void> {
  const stopController = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (stopController.signal.aborted) process.exit(130)
      stopController.abort()
    })
  const terminal = processTerminal()
  process.exitCode = await run(process.argv.slice(2), {
    terminal,
    env: takeEnvironment(),
    cwd: process.cwd(),
    signal: stopController.signal,
  })
  // Exits once the output is read, even if handles are still open. A second Ctrl-C does not wait for that.
  await terminal.drained()
  process.exit()
}
