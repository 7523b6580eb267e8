#!/usr/bin/env node
/** The entry of the command. It checks the version of Node before it loads anything, so that an old Node gets a message. */

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 13)) {
  process.stderr.write(
    `sluice needs Node 22.13 or newer; this is ${process.versions.node}. Get one from https://nodejs.org\n`,
  )
  process.exit(1)
}
const { run } = await import('./program.ts')
const { takeEnvironment } = await import('sluice/node')
const { processTerminal } = await import('./output.ts')

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
