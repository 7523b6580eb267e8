/** A real keyring of freedesktop.org on a session bus of its own, unlocked, with entries. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished } from 'vitest'
import { requireProgram } from './programs.ts'

export interface Keyring {
  /** The environment in which `secret-tool` finds it. */
  readonly env: { readonly [name: string]: string }
}

/** Starts it with entries by `service/account`. It ends with the test. */
export async function startKeyring(entries: { readonly [entry: string]: string }): Promise<Keyring> {
  // `secret-tool` has no option for its version, and ends with 2 then.
  if (spawnSync('secret-tool', ['--version']).error) requireProgram('secret-tool', 'libsecret-tools')
  requireProgram('gnome-keyring-daemon', 'gnome-keyring')
  const folder = mkdtempSync(join(tmpdir(), 'sluice-keyring-'))
  const bus = spawn('dbus-daemon', ['--session', '--nofork', '--print-address'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [address] = (await once(createInterface(bus.stdout), 'line')) as [string]
  const env = { DBUS_SESSION_BUS_ADDRESS: address, XDG_DATA_HOME: folder, XDG_RUNTIME_DIR: folder }
  const all = { ...process.env, ...env }
  const daemon = spawn('gnome-keyring-daemon', ['--foreground', '--unlock', '--components=secrets'], {
    env: all,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  onTestFinished(async () => {
    await Promise.all([end(daemon), end(bus)])
    rmSync(folder, { recursive: true, force: true })
  })
  daemon.stdin.end('a password')
  // A request to it before it has its name would start another daemon.
  const nameOwner = ['--print-reply', '--dest=org.freedesktop.DBus', '/', 'org.freedesktop.DBus.GetNameOwner']
  const isReady = (): boolean =>
    spawnSync('dbus-send', [...nameOwner, 'string:org.freedesktop.secrets'], { env: all }).status === 0
  await expect.poll(isReady).toBe(true)
  for (const [entry, secret] of Object.entries(entries)) {
    const [service = '', account = ''] = entry.split('/')
    const args = ['store', '--label', entry, 'service', service, 'account', account]
    const stored = spawnSync('secret-tool', args, { env: all, input: secret, encoding: 'utf8' })
    if (stored.status !== 0) throw new Error(`secret-tool ended with ${stored.status}: ${stored.stderr}`)
  }
  return { env }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill()
  await exited
}
