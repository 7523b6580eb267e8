/** What the services of tests need: their programs, installed if missing, and a free port. */

import { execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'

/** Returns the command, after installing its Debian package if it does not run. `version` is its version option. */
export function requireProgram(command: string, debianPackage: string = command, version = '--version'): string {
  if (runs(command, version)) return command
  installProgram(command, debianPackage)
  return command
}

export function installProgram(command: string, debianPackage: string): void {
  if (process.getuid?.() !== 0 || !runs('apt-get'))
    throw new Error(
      `These tests need ${command}: apt-get install ${debianPackage} (or your system’s package of that name)`,
    )
  installPackages([debianPackage])
}

export function installPackages(names: readonly string[]): void {
  const options = { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const
  // Two test files may install at the same time; the second waits for the lock.
  const patient = ['-o', 'DPkg::Lock::Timeout=120', '-qq']
  execFileSync('apt-get', [...patient, 'update'], options)
  execFileSync('apt-get', [...patient, 'install', '-y', '--no-install-recommends', ...names], options)
}

function runs(command: string, version = '--version'): boolean {
  try {
    execFileSync(command, [version], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/**
 * Returns a port for a program that cannot choose a free one itself. It is below the ephemeral ports. Otherwise a
 * client of another test could have taken it by the time the program starts.
 */
export async function freePort(): Promise<number> {
  const from = 10_000
  const [first = ''] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s/)
  for (;;) {
    const port = randomInt(from, Math.max(from + 1_000, Number(first)))
    const server = createServer()
    const bound = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!bound) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
