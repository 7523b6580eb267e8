/** A real PostgreSQL for one test: on a socket in a temporary folder, as an unprivileged user. */

import type { ChildProcess } from 'node:child_process'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { installProgram } from './programs.ts'

export interface PostgresServer {
  readonly url: string
  /** Kills all its processes with −9. Its commits are in its folder. */
  kill(): Promise<void>
  /** After `kill`: starts on the same socket and folder. */
  start(): Promise<void>
  stop(): Promise<void>
}

export async function startPostgres(): Promise<PostgresServer> {
  const programs = findOrInstall()
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pg-'))
  const account = unprivileged()
  chmodSync(folder, 0o700)
  if (account.uid !== undefined && account.gid !== undefined) chownSync(folder, account.uid, account.gid)
  const data = join(folder, 'data')
  const env = { ...process.env, LC_ALL: 'C.UTF-8', TZ: 'UTC' }
  execFileSync(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'sluice', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
    { ...account, env, cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] },
  )
  // It listens only on the socket. Only processes are killed here, never the machine, so it need not wait for the disk.
  const settings = ['-k', folder, '-h', '', '-c', 'fsync=off', '-c', 'max_connections=50']
  let server: ChildProcess | undefined
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ending = server
    server = undefined
    if (!ending?.pid || ending.exitCode !== null || ending.signalCode !== null) return
    const exited = once(ending, 'exit')
    // Its own process group, so that the backends end with it.
    process.kill(signal === 'SIGKILL' ? -ending.pid : ending.pid, signal)
    await exited
  }
  const start = async (): Promise<void> => {
    const started = spawn(join(programs, 'postgres'), ['-D', data, ...settings], {
      ...account,
      env,
      cwd: folder,
      stdio: 'ignore',
      detached: true,
    })
    server = started
    for (let tries = 0; tries < 600; tries++) {
      if (isReady(programs, folder)) return
      if (started.exitCode !== null) throw new Error(`postgres ended with ${started.exitCode}`)
      await sleep(50)
    }
    throw new Error('postgres does not answer')
  }
  await start()
  return {
    url: `postgresql://sluice@/postgres?host=${encodeURIComponent(folder)}`,
    kill: () => end('SIGKILL'),
    start,
    async stop() {
      await end('SIGQUIT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Debian installs each version's programs in a separate folder, outside PATH. */
function findOrInstall(): string {
  const found = find()
  if (found) return found
  installProgram('PostgreSQL', 'postgresql')
  const installed = find()
  if (!installed) throw new Error('PostgreSQL was installed, but initdb was not found')
  return installed
}
function find(): string | undefined {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : []
  const places = [...versions.map((version) => join(root, version, 'bin')), ...(process.env['PATH'] ?? '').split(':')]
  return places.find((place) => existsSync(join(place, 'initdb')) && existsSync(join(place, 'postgres')))
}

/** PostgreSQL refuses to run as root. */
function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string): number => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }))
      return { uid: id('-u'), gid: id('-g') }
    } catch {
      // The next one.
    }
  }
  throw new Error('PostgreSQL refuses to run as root, and no other user exists')
}

function isReady(programs: string, folder: string): boolean {
  try {
    execFileSync(join(programs, 'pg_isready'), ['-q', '-h', folder, '-t', '1'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
