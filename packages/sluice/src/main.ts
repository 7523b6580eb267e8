/** The binary of a package that is a server: `--stdio` (what clients start) or `--http`, and a folder for its data. */

import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { nodeClock, nodeRuntime, serveHttp, serveStdio, stderrLogger } from './node.ts'
import type { Open } from './open.ts'
import { createServer, type Runtime } from './server.ts'

export interface MainOptions {
  /** The binary's name, such as `sluice-memory`. */
  readonly name: string
  readonly version: string
  /** One sentence for `--help`. */
  readonly about: string
  readonly argv?: readonly string[]
  /** What the binary brings besides the defaults, such as approvals. */
  readonly runtime?: Runtime
}

const usage = ({ name, about }: MainOptions): string => `${about}

  ${name}                    speak MCP on stdin and stdout (what a client starts)
  ${name} --http             serve http://127.0.0.1:3000/mcp
  ${name} --http --port 4000 on another port
  ${name} --data <folder>    keep its data there
  ${name} --version`

/** Where a server keeps its data when nobody says: the place the desktop gives programs for it. */
export const dataFolder = (name: string, env: NodeJS.ProcessEnv = process.env): string =>
  join(env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'sluice', name)

/** Ends only with the process. A bad flag is answered with the usage, on stderr, and exit code 2. */
export async function runMain(open: Open, options: MainOptions): Promise<void> {
  const { argv = process.argv.slice(2), name, version } = options
  const flags = readFlags(argv)
  if (typeof flags === 'string') {
    process.stderr.write(`${flags}\n\n${usage(options)}\n`)
    process.exitCode = 2
    return
  }
  if (flags.help) return void process.stdout.write(`${usage(options)}\n`)
  if (flags.version) return void process.stdout.write(`${version}\n`)
  const folder = flags.data ?? dataFolder(name)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const logger = stderrLogger()
  const opened = await open({ folder, env: process.env, logger, clock: nodeClock })
  if (opened.state !== 'ready') process.stderr.write(`${name}: ${opened.state}\n`)
  const server = createServer(opened.definition, {
    ...nodeRuntime(logger),
    ...(opened.layers && { layers: opened.layers }),
    ...options.runtime,
  })
  opened.started?.(server)
  const { maxMessageBytes: most } = opened
  if (flags.http) {
    const { url } = await serveHttp(server, { port: Number(flags.port ?? 3000), ...(most && { maxBodyBytes: most }) })
    process.stderr.write(`${name} ${version} on ${url}\n`)
    return
  }
  await serveStdio(server, most ? { maxLineBytes: most } : {}).closed
  await opened.close()
}

interface Flags {
  readonly http?: boolean
  readonly stdio?: boolean
  readonly help?: boolean
  readonly version?: boolean
  readonly port?: string
  readonly data?: string
}

function readFlags(argv: readonly string[]): Flags | string {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        http: { type: 'boolean' },
        stdio: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
        port: { type: 'string' },
        data: { type: 'string' },
      },
    })
    if (values.port !== undefined && !/^\d{1,5}$/.test(values.port))
      return `--port takes a number, not '${values.port}'`
    return values
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown)
  }
}
