/**
 * Programs from npm that tests use as people do, each in a folder of its own with pinned versions. As dependencies of
 * this repository they would weigh on every install, and their peers contradict ours.
 */

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const cache = join(import.meta.dirname, '../../../node_modules/.cache/sluice-tests')

/** What each folder holds. */
const folders = {
  langchain: {
    '@langchain/mcp-adapters': '1.1.4',
    '@langchain/core': '1.2.12',
    '@langchain/langgraph': '1.4.15',
  },
  tasks: {
    '@modelcontextprotocol/ext-tasks': '0.2.2',
    '@modelcontextprotocol/client': '2.4.0',
  },
} as const
export type Folder = keyof typeof folders

/** Installs the packages of a folder if they are missing, and returns its path. */
export function installFolder(name: Folder): string {
  const manifest = JSON.stringify({ private: true, type: 'module', dependencies: folders[name] })
  const folder = join(cache, `${name}-${createHash('sha256').update(manifest).digest('hex').slice(0, 12)}`)
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  // Made aside and renamed, so that an install that was killed is not taken for a finished one.
  const draft = mkdtempSync(join(cache, `${name}-`))
  writeFileSync(join(draft, 'package.json'), manifest)
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: draft,
    stdio: 'pipe',
  })
  try {
    renameSync(draft, folder)
  } catch (error) {
    rmSync(draft, { recursive: true })
    if (!existsSync(folder)) throw error
  }
  return folder
}

/**
 * Installs every folder before the first test: inside a test it would count against its limit. Without a registry the
 * tests that need a folder fail by themselves.
 */
export function installFolders(): void {
  for (const name of Object.keys(folders) as Folder[]) {
    try {
      installFolder(name)
    } catch (error) {
      process.stderr.write(`Not installed for the tests: ${name} (${String(error)})\n`)
    }
  }
}

/** Imports a package of a folder, or a file of one by its path. The caller says what it uses of it. */
export async function importFrom<T>(name: Folder, specifier: string): Promise<T> {
  if (specifier.startsWith('./'))
    return (await import(pathToFileURL(join(installFolder(name), 'node_modules', specifier)).href)) as T
  const { resolve } = createRequire(join(installFolder(name), 'package.json'))
  return (await import(pathToFileURL(resolve(specifier)).href)) as T
}
