/** Checks this machine: Node, the data folder, the ports and Lisp. */

import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { isLoopback, isReadableByOthers, makePrivateFolder } from 'sluice/node'
import type { Config } from '../config/schema.ts'
import { builtInNames } from '../host/servers.ts'
import type { Finding } from './finding.ts'
import { bad, good, note } from './finding.ts'

export async function checkMachine(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Finding[]> {
  const { host, port, console } = config
  const isRunning = (): Promise<boolean> => isServer(host, port, Object.keys(config.servers ?? {}))
  return [
    checkNode(process.versions.node),
    checkFolder(resolve(config.data)),
    await checkPort('Port', host, port, '--port', isRunning),
    ...(console
      ? [
          await checkPort(
            'Console port',
            console.host,
            console.port,
            '--console-port',
            async () =>
              // Another Sluice may have the console's port. Then the servers of this configuration cannot run.
              (port === 0 || (await isRunning())) && (await isConsole(console)),
          ),
        ]
      : []),
    checkExposure(config),
    checkLisp(env),
  ]
}

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isNew = major > 22 || (major === 22 && minor >= 13)
  return isNew
    ? good('Node', version)
    : bad('Node', `${version} is too old`, 'Install Node 22.13 or newer: https://nodejs.org')
}

function checkFolder(path: string): Finding {
  const nearest = nearestExisting(path)
  try {
    makePrivateFolder(path)
    accessSync(path, constants.W_OK)
  } catch {
    return bad(
      'Data folder',
      `${path} cannot be written`,
      `Make ${nearest} writable for this account, or choose another folder with --data`,
    )
  }
  if (isReadableByOthers(path)) return note('Data folder', `${path} is open to other accounts`, `chmod 700 ${path}`)
  const { bavail, bsize } = statfsSync(path)
  const mb = Math.round((bavail * bsize) / 1e6)
  return mb < 200
    ? bad('Data folder', `${path}: ${mb} MB free`, 'Free space on that disk: stores refuse writes when it is full')
    : good('Data folder', `${path}, ${mb} MB free`)
}

const nearestExisting = (path: string): string =>
  existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path))

async function checkPort(
  what: string,
  host: string,
  port: number,
  flag: string,
  isOurs: () => Promise<boolean>,
): Promise<Finding> {
  if (port === 0) return good(what, 'any free port')
  const code = await new Promise<string | undefined>((done) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? 'unknown'))
    probe.listen(port, host, () => probe.close(() => done(undefined)))
  })
  if (code === undefined) return good(what, `${host}:${port} is free`)
  if (code === 'EADDRINUSE' && (await isOurs())) return good(what, `${host}:${port}, in use by Sluice`)
  return bad(
    what,
    `${host}:${port} ${code === 'EADDRINUSE' ? 'is in use' : `cannot be used (${code})`}`,
    `Stop the program that listens there, or choose another port with ${flag}`,
  )
}

/** Whether a Sluice server listens there, because people often run the doctor while the servers run. */
async function isServer(host: string, port: number, names: readonly string[]): Promise<boolean> {
  for (const name of names.length > 0 ? names : builtInNames) {
    const answer = await textAt(`http://${host}:${port}/${name}/healthz`)
    if (answer !== undefined) return answer.trim() === 'alive'
  }
  return false
}
const isConsole = async ({ host, port }: { readonly host: string; readonly port: number }): Promise<boolean> =>
  (await textAt(`http://${host}:${port}/`))?.includes('Sluice') ?? false

const textAt = (url: string): Promise<string | undefined> =>
  fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    (response) => (response.ok ? response.text() : undefined),
    () => undefined,
  )

function checkExposure({ host, hosts = [], authenticate }: Config): Finding {
  if (isLoopback(host)) return good('Reach', 'this machine only')
  if (authenticate === null)
    return bad(
      'Reach',
      `${host} without authentication`,
      'Everyone on the network may call every tool: set "authenticate", or set "host" to 127.0.0.1',
    )
  if (hosts.length === 0)
    return bad(
      'Reach',
      `${host}, but "hosts" is empty`,
      'List the host names that clients use in "hosts"; otherwise their requests are refused',
    )
  return good('Reach', `${host} as ${hosts.join(', ')}`)
}

function checkLisp(env: Readonly<Record<string, string | undefined>>): Finding {
  const folders = (env['PATH'] ?? '').split(':')
  return folders.some((each) => existsSync(join(each, 'sbcl')))
    ? good('Lisp', 'sbcl is installed')
    : note('Lisp', 'sbcl is not installed', 'Only the lisp server needs it: apt-get install sbcl cl-swank')
}
