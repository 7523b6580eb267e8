/** Starts a module that exports `{ fetch }` on a real workerd, Deno or Bun, on a free port. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { programIn } from './npm-packages.ts'

export const runtimes = ['workerd', 'deno', 'bun'] as const
export type RuntimeName = (typeof runtimes)[number]

export interface RunningRuntime {
  /** Without a path. */
  readonly url: string
  close(): Promise<void>
}

export interface StartOptions {
  /** workerd only: a class of the module, bound as `ONE`, so that one Durable Object can serve all clients. */
  readonly object?: string
  /** Deno and Bun: the environment of the program. It may then read it, and use the network. */
  readonly env?: { readonly [name: string]: string }
}

/** `entry` may import packages: Deno and Bun resolve them by themselves, for workerd they are bundled into one file. */
export async function startRuntime(
  runtime: RuntimeName,
  entry: string,
  options: StartOptions = {},
): Promise<RunningRuntime> {
  const folder = await mkdtemp(join(tmpdir(), `sluice-${runtime}-`))
  const child = await starters[runtime](entry, folder, options)
  async function close(): Promise<void> {
    const exited = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
    // Kills the whole group, because the programs that npm installs are wrappers that start the real one.
    if (exited && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    await exited
    await rm(folder, { recursive: true })
  }
  try {
    return { url: await addressOf(child), close }
  } catch (thrown) {
    await close()
    throw thrown
  }
}

type Starter = (entry: string, folder: string, options: StartOptions) => Promise<ChildProcess>

const starters: { readonly [name in RuntimeName]: Starter } = {
  async workerd(entry, folder, options) {
    const outfile = join(folder, 'worker.js')
    const how = { bundle: true, format: 'esm', platform: 'neutral', logLevel: 'error' } as const
    await build({ ...how, entryPoints: [entry], outfile, external: ['cloudflare:*'] })
    await writeFile(join(folder, 'config.capnp'), configOf(options))
    return run('workerd', ['serve', join(folder, 'config.capnp'), '--control-fd=3'], {})
  },
  async deno(entry, _, { env = {} }) {
    const where = ['--cached-only', '--host', '127.0.0.1', '--port', '0']
    const may = Object.keys(env).length > 0 ? ['--allow-env', '--allow-net', '--allow-sys'] : []
    return run('deno', ['serve', ...where, ...may, entry], env)
  },
  bun: async (entry, _, { env = {} }) => run('bun', ['run', entry], { PORT: '0', ...env }),
}

const configOf = ({ object }: StartOptions): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "worker", esModule = embed "worker.js")],
    compatibilityDate = "2026-07-01",
${object === undefined ? '' : bindingOf(object)}
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`

const bindingOf = (object: string): string => `
    durableObjectNamespaces = [(className = "${object}", uniqueKey = "one")],
    durableObjectStorage = (inMemory = void),
    bindings = [(name = "ONE", durableObjectNamespace = "${object}")],`

const run = (program: RuntimeName, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess =>
  spawn(programIn('runtimes', program), args, {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1', ...env },
    detached: true,
  })

/** workerd reports its port on its control pipe; the others print their address. */
const spoken = /"port":(\d+)|http:\/\/[\w.]+:(\d+)/

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    for (const stream of child.stdio.slice(1))
      stream?.on('data', (bytes: Buffer) => {
        output += bytes.toString()
        const [, piped, printed] = spoken.exec(output) ?? []
        const port = piped ?? printed
        if (port !== undefined) resolve(`http://localhost:${port}`)
      })
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`It ended before it listened:\n${output}`)))
  })
}
