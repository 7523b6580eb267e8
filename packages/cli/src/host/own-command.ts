/** How another program starts this command: from npm, or from its folder if it was not installed from npm. */

import { realpathSync } from 'node:fs'
import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

export const commandLine: readonly [string, ...string[]] = /[\\/]node_modules[\\/]/.test(main)
  ? ['npx', '-y', '@sluice/cli']
  : [process.execPath, main]

/** The folder of this package, with a separator at its end. */
export const packagePath = `${realpathSync(fileURLToPath(new URL('../..', import.meta.url))).replace(/[\\/]$/, '')}${sep}`
