#!/usr/bin/env node
/** The entry of the command. It checks the version of Node before it loads anything, so that an old Node gets a message. */

import { enableCompileCache } from './compile-cache.ts'
import { loadModulesQuickly } from './quick-modules.ts'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 13)) {
  process.stderr.write(
    `sluice needs Node 22.13 or newer; this is ${process.versions.node}. Get one from https://nodejs.org\n`,
  )
  process.exit(1)
}
enableCompileCache(process.env)
loadModulesQuickly()
const { runProcess } = await import('./process.ts')
await runProcess()
