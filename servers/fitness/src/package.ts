/** Name and version, from the one place they are written. Read at start: this file stands beside its source and its build alike. */

import { createRequire } from 'node:module'

export const { version, description } = createRequire(import.meta.url)('../package.json') as {
  readonly version: string
  readonly description: string
}
