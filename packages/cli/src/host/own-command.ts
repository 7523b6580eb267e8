/** How another program starts this command: from npm, or from its folder if it was not installed from npm. */

import { realpathSync } from 'node:fs'
import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageUrl } from '../package.ts'

/** The file that Node starts. */
export const programFile = fileURLToPath(new URL('bin/sluice.js', packageUrl))

export const commandLine: readonly [string, ...string[]] = /[\\/]node_modules[\\/]/.test(programFile)
  ? ['npx', '-y', '@sluice/cli']
  : [process.execPath, programFile]

/** The folder of this package, with a separator at its end. */
export const packagePath = `${realpathSync(fileURLToPath(packageUrl)).replace(/[\\/]$/, '')}${sep}`
