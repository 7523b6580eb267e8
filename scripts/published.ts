/** The published packages and their manifests. */

import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '..')

export interface Published {
  readonly folder: string
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly exports?: { readonly [entry: string]: { readonly types?: string } }
  readonly dependencies?: { readonly [name: string]: string }
}

export const published = (): readonly Published[] =>
  globSync(['packages/*/package.json', 'servers/*/package.json'], { cwd: root })
    .sort()
    .map((file) => ({
      ...(JSON.parse(readFileSync(join(root, file), 'utf8')) as Omit<Published, 'folder'>),
      folder: join(root, dirname(file)),
    }))
    .filter((manifest) => !manifest.private)
