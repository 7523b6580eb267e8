/** Name and version, from the one place they are written. */

import { createRequire } from 'node:module'

export const { version, description } = createRequire(import.meta.url)('../package.json') as {
  readonly version: string
  readonly description: string
}
