#!/usr/bin/env node
/** `npm create sluice`. It checks the version of Node before it loads anything, so that an old Node gets a message. */

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `A project on Sluice needs Node 22.18 or newer, which runs TypeScript; this is ${process.versions.node}. Get one from https://nodejs.org\n`,
  )
  process.exit(1)
}
const { run } = await import('./command.ts')
process.exitCode = await run()

export {}
