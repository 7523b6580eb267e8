/**
 * Programs from npm that only tests use. Each folder of `test/kit/npm` pins some, with a lock. As dependencies of this
 * repository they would weigh on every install, and some of their peers contradict ours.
 */

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const manifests = join(import.meta.dirname, '../npm')
const cache = join(import.meta.dirname, '../../../node_modules/.cache/sluice-tests')

const folders = [
  'adaptive-cards',
  'clients',
  'ext-apps',
  'ext-tasks',
  'langchain',
  'manifests',
  'mcp-servers',
  'referee-servers',
  'runtimes',
] as const
/** The last one is for the bench alone, and takes a minute to install. */
export type Folder = (typeof folders)[number] | 'gateway-peers'

const files = ['package.json', 'package-lock.json']

/** Installs the packages of a folder if they are missing, and returns its path. */
export function installFolder(name: Folder): string {
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(join(manifests, name, file)))
  const folder = join(cache, `${name}-${hash.digest('hex').slice(0, 12)}`)
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  // Prepared elsewhere and renamed, so that an interrupted install is not mistaken for a finished one.
  const draft = mkdtempSync(join(cache, `${name}-`))
  for (const file of files) copyFileSync(join(manifests, name, file), join(draft, file))
  process.stderr.write(`Installing the packages of test/kit/npm/${name} for the tests, into ${cache}\n`)
  // Only the runtimes put their programs in place by scripts.
  const scripts = name === 'runtimes' ? [] : ['--ignore-scripts']
  execFileSync('npm', ['ci', ...scripts, '--no-audit', '--no-fund', '--loglevel=error'], { cwd: draft, stdio: 'pipe' })
  try {
    renameSync(draft, folder)
  } catch (error) {
    rmSync(draft, { recursive: true })
    if (!existsSync(folder)) throw error
  }
  return folder
}

/**
 * Installs every folder before the first test, because inside a test it would count against its limit. Without a
 * registry, tests that need a folder fail by themselves.
 */
export function installFolders(): void {
  for (const name of folders) {
    try {
      installFolder(name)
    } catch (error) {
      process.stderr.write(`Not installed for the tests: ${name} (${String(error)})\n`)
    }
  }
}

/** Imports a package of a folder, or a file of one by its path. The caller states the type. */
export async function importFrom<T>(name: Folder, specifier: string): Promise<T> {
  if (specifier.startsWith('./'))
    return (await import(pathToFileURL(join(installFolder(name), 'node_modules', specifier)).href)) as T
  const { resolve } = createRequire(join(installFolder(name), 'package.json'))
  return (await import(pathToFileURL(resolve(specifier)).href)) as T
}

/** Returns the path of a program of a folder. */
export const programIn = (name: Folder, program: string): string =>
  join(installFolder(name), 'node_modules/.bin', program)
