/** The version and the description, from package.json. */

import { createRequire } from 'node:module'

export const { version, description } = createRequire(import.meta.url)('../package.json') as {
  readonly version: string
  readonly description: string
}
