/** Installs one contender of the comparison as a user would, in a folder outside this repository, and counts the packages. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { published } from '../../scripts/published.ts'

export interface Installed {
  readonly folder: string
  readonly packages: number
  readonly megabytes: number
}

const npm = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('npm', [...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

function bytesIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return sum + bytesIn(path)
    return sum + (entry.isFile() ? statSync(path).size : 0)
  }, 0)
}

export function installContender(name: string): Installed {
  const folder = mkdtempSync(join(tmpdir(), `compare-${name}-`))
  cpSync(join(import.meta.dirname, name), folder, { recursive: true })
  const file = join(folder, 'package.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as { dependencies: Record<string, string> }
  for (const { folder: source, name } of published()) {
    if (!manifest.dependencies[name]) continue
    const printed = npm(source, 'pack', '--ignore-scripts', '--json', '--pack-destination', folder)
    const [{ filename }] = JSON.parse(printed) as [{ filename: string }]
    manifest.dependencies[name] = `file:${filename}`
    writeFileSync(file, JSON.stringify(manifest))
  }
  npm(folder, 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error')
  const lock = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8')) as { packages: object }
  return {
    folder,
    packages: Object.keys(lock.packages).length,
    megabytes: bytesIn(join(folder, 'node_modules')) / 1e6,
  }
}
