/** The folder of this package, and its version and description from package.json. */

import { createRequire } from 'node:module'

/** One level up, from `src`, `dist` and `lib` alike. */
export const packageUrl = new URL('..', import.meta.url)

export const { version, description } = createRequire(packageUrl)('./package.json') as {
  readonly version: string
  readonly description: string
}
