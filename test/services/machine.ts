/** What services of tests need of the machine: their programs, installed where they are missing, and a free port. */

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** The command, after installing Debian's package of it where it does not run. `version` is how it tells its own. */
export function installed(command: string, debianPackage: string = command, version = '--version'): string {
  if (works(command, version)) return command
  install(command, debianPackage)
  return command
}

export function install(command: string, debianPackage: string): void {
  if (process.getuid?.() !== 0 || !works('apt-get'))
    throw new Error(
      `These tests need ${command}: apt-get install ${debianPackage} (or your system’s package of that name)`,
    )
  installPackages([debianPackage])
}

export function installPackages(names: readonly string[]): void {
  const options = { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const
  // Two test files may come here together; the second waits for the lock.
  const patient = ['-o', 'DPkg::Lock::Timeout=120', '-qq']
  execFileSync('apt-get', [...patient, 'update'], options)
  execFileSync('apt-get', [...patient, 'install', '-y', '--no-install-recommends', ...names], options)
}

function works(command: string, version = '--version'): boolean {
  try {
    execFileSync(command, [version], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (!address || typeof address === 'string') throw new Error('No port')
  return address.port
}
