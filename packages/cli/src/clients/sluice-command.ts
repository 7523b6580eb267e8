/** The command line with which clients start Sluice: from npm, or from this folder if it was not installed from npm. */

import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

export const sluiceCommand: readonly [string, ...string[]] = /[\\/]node_modules[\\/]/.test(main)
  ? ['npx', '-y', '@sluice/cli']
  : [process.execPath, main]
