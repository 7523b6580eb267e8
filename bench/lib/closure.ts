/**
 * Computes what `npm install` of some packages brings: the closure of their dependencies on disk.
 *
 * Required peers count, because npm installs them; optional ones do not. A package of this workspace counts as it would
 * be published, without its sources, tests and caches.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'

interface Manifest {
  readonly dependencies?: Record<string, string>
  readonly peerDependencies?: Record<string, string>
  readonly peerDependenciesMeta?: Record<string, { readonly optional?: boolean }>
}

export interface Closure {
  readonly packages: readonly string[]
  readonly bytes: number
}

function findPackage(name: string, from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name)
    if (existsSync(join(candidate, 'package.json'))) return realpathSync(candidate)
    if (folder === dirname(folder)) throw new Error(`${name} is not installed (needed by ${from})`)
  }
}

function needs(folder: string): readonly string[] {
  const manifest: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const peers = Object.keys(manifest.peerDependencies ?? {}).filter(
    (name) => !manifest.peerDependenciesMeta?.[name]?.optional,
  )
  return [...Object.keys(manifest.dependencies ?? {}), ...peers]
}

function sizeOnDisk(folder: string): number {
  let bytes = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules') continue
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += sizeOnDisk(path)
    else if (entry.isFile()) bytes += statSync(path).size
  }
  return bytes
}

function sizeAsPublished(folder: string): number {
  const printed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [packed]: { unpackedSize: number }[] = JSON.parse(printed.toString())
  if (!packed) throw new Error(`npm pack returned nothing for ${folder}`)
  return packed.unpackedSize
}

export function closureOf(names: readonly string[], from: string): Closure {
  const found = new Map<string, number>()
  const queue = names.map((name) => findPackage(name, from))
  for (let folder = queue.shift(); folder; folder = queue.shift()) {
    if (found.has(folder)) continue
    const isInstalled = folder.split(sep).includes('node_modules')
    found.set(folder, isInstalled ? sizeOnDisk(folder) : sizeAsPublished(folder))
    for (const name of needs(folder)) queue.push(findPackage(name, folder))
  }
  return { packages: [...found.keys()], bytes: [...found.values()].reduce((sum, bytes) => sum + bytes, 0) }
}
