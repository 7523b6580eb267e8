/** A real PostgreSQL for one test: on a socket in a temporary folder, as an unprivileged user. */

import type { ChildProcess } from 'node:child_process'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { installProgram } from './programs.ts'

export interface PostgresServer {
  readonly url: string
  /** The path of its socket. */
  readonly socket: string
  /** kill −9 of every process of it. What it had committed is in its folder. */
  kill(): Promise<void>
  /** After `kill`: starts on the same socket and folder. */
  start(): Promise<void>
  /** Stops in order, as an upgrade does: connections are closed, everything is on the disk. Then starts again. */
  restart(): Promise<void>
  /** The kernel still accepts connections and bytes, but no process answers. */
  pause(): void
  resume(): void
  stop(): Promise<void>
}

/** `settings` as in postgresql.conf: `['fsync=on']`. They overrule what `ALTER SYSTEM` says. */
export const startPostgres = (settings: readonly string[] = []): Promise<PostgresServer> =>
  launch(settings, (data) => [
    'initdb',
    ['-D', data, '-U', 'sluice', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
  ])

/** A standby that follows a primary, which answers reads. */
export const startStandby = (primary: PostgresServer): Promise<PostgresServer> =>
  launch([], (data) => [
    'pg_basebackup',
    ['-D', data, '-U', 'sluice', '-h', dirname(primary.socket), '-R', '-X', 'stream', '-c', 'fast', '--no-sync'],
  ])

async function launch(
  more: readonly string[],
  prepare: (data: string) => readonly [program: string, args: readonly string[]],
): Promise<PostgresServer> {
  const programs = findOrInstall()
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pg-'))
  const account = unprivileged()
  chmodSync(folder, 0o700)
  if (account.uid !== undefined && account.gid !== undefined) chownSync(folder, account.uid, account.gid)
  const data = join(folder, 'data')
  const env = { ...process.env, LC_ALL: 'C.UTF-8', TZ: 'UTC' }
  const [program, args] = prepare(data)
  execFileSync(join(programs, program), args, {
    ...account,
    env,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  // Nothing listens but the socket, and only processes are killed here, never the machine: no need to wait for the disk.
  const settings = [
    '-k',
    folder,
    '-h',
    '',
    ...['fsync=off', 'max_connections=50', ...more].flatMap((each) => ['-c', each]),
  ]
  let server: ChildProcess | undefined
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ending = server
    server = undefined
    if (!ending?.pid || ending.exitCode !== null || ending.signalCode !== null) return
    const gone = once(ending, 'exit')
    const isKill = signal === 'SIGKILL'
    // Stopped first, so that it starts no other process that would be missed.
    ending.kill(isKill ? 'SIGSTOP' : signal)
    const children = isKill ? sendToAll(ending.pid, signal) : []
    await gone
    // Otherwise the next start finds shared memory that is still in use, and refuses.
    while (children.some(isRunning)) await sleep(5)
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
    socket: join(folder, '.s.PGSQL.5432'),
    kill: () => end('SIGKILL'),
    start,
    async restart() {
      await end('SIGINT')
      await start()
    },
    pause() {
      sendToAll(server?.pid, 'SIGSTOP')
    },
    resume() {
      sendToAll(server?.pid, 'SIGCONT')
    },
    async stop() {
      await end('SIGQUIT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * Signals each process: PostgreSQL starts a session for each, so a signal to the group would reach only the first.
 * Returns the children.
 */
function sendToAll(pid: number | undefined, signal: NodeJS.Signals): readonly number[] {
  if (pid === undefined) return []
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  // The first one first: otherwise it would start another, or end all of them in order.
  for (const each of [pid, ...children])
    try {
      process.kill(each, signal)
    } catch {
      // It ended by itself.
    }
  return children
}

/** False for a process that has ended and waits only for its parent. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** Debian keeps each version's programs in a folder of its own, outside PATH. */
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
