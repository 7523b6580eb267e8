/**
 * Reads name and version from package.json, where they are written once. The path is the same from the source and from
 * the build.
 */

import { createRequire } from 'node:module'

export const { version, description } = createRequire(import.meta.url)('../package.json') as {
  readonly version: string
  readonly description: string
}
