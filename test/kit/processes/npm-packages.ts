/**
 * Programs from npm that tests use as people do, each in a separate folder with pinned versions. As dependencies of
 * this repository they would slow down every install, and their peers contradict ours.
 */

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const cache = join(import.meta.dirname, '../../../node_modules/.cache/sluice-tests')

/** The contents of each folder. */
const folders = {
  langchain: {
    '@langchain/mcp-adapters': '1.1.4',
    '@langchain/core': '1.2.12',
    '@langchain/langgraph': '1.4.15',
  },
  'mcp-servers': {
    '@modelcontextprotocol/server-everything': '2026.8.31',
    fastmcp: '4.20.16',
    zod: '4.6.7',
  },
} as const
export type Folder = keyof typeof folders

/** Installs the packages of a folder if they are missing, and returns its path. */
export function installFolder(name: Folder): string {
  const manifest = JSON.stringify({ private: true, type: 'module', dependencies: folders[name] })
  const folder = join(cache, `${name}-${createHash('sha256').update(manifest).digest('hex').slice(0, 12)}`)
  if (existsSync(folder)) return folder
  const names = Object.entries(folders[name]).map(([each, version]) => `${each}@${version}`)
  process.stderr.write(`The tests need ${names.join(', ')}. Installing into ${cache}.\n`)
  mkdirSync(cache, { recursive: true })
  // Prepared elsewhere and renamed, so that an interrupted install is not mistaken for a finished one.
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
 * Installs every folder before the first test, because inside a test it would count against its limit. Without a
 * registry, tests that need a folder fail by themselves.
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

/** Imports a package of a folder. The caller states the type. */
export async function importFrom<T>(name: Folder, specifier: string): Promise<T> {
  const { resolve } = createRequire(join(installFolder(name), 'package.json'))
  return (await import(pathToFileURL(resolve(specifier)).href)) as T
}
