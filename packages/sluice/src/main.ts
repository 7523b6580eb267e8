/** The binary of a package that is a server: `--stdio` (what clients start) or `--http`, and a folder for its data. */

import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Clock } from './core/clock.ts'
import type { Logger } from './core/log.ts'
import type { Store } from './core/store.ts'
import type { PluginList } from './install.ts'
import { createServer, nodeClock, onSignals, serveHttp, serveStdio, sessions, stderrLogger } from './node.ts'
import type { OpenServer } from './open-server.ts'
import { customLayer } from './plugins/custom-layer.ts'
import { log } from './plugins/log.ts'
import { memoryStore } from './stores/memory.ts'
import { makePrivateFolder } from './stores/private-files.ts'
import type { Environment } from './transports/node/environment.ts'
import { removeVariables, takeEnvironment } from './transports/node/environment.ts'

export { ownerTenant } from './layers/tenant-registry.ts'

/** Options of a server's own binary. */
export interface MainOptions {
  /** The binary's name, such as `sluice-memory`. */
  readonly name: string
  readonly version: string
  /** One sentence for `--help`. */
  readonly about: string
  readonly argv?: readonly string[]
  /** The name of its argument in `--help`, such as `folder`. The server gets the argument in `HostContext`. */
  readonly argument?: string
  /** Subcommands, such as `sluice-knowledge build …`. Each gets the arguments after its name. */
  readonly commands?: { readonly [name: string]: Command }
  /** The command that serves it over HTTP. Then the binary refuses `--http`, because its callers must be known. */
  readonly httpAlternative?: string
  /** Plugins in addition to the defaults, such as approvals. */
  readonly use?: (services: MainServices) => PluginList
}

/** What the plugins of a binary get. */
export interface MainServices {
  /** On stdio the store of the data folder, so that `sluice approvals` and a console reach the tickets. */
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  /** Returns the command line that approves a ticket in that store. */
  readonly command: (id: string) => string
}

/** A subcommand of a binary, which does not serve. */
export interface Command {
  /** Its arguments and its purpose, for `--help`. */
  readonly usage: readonly [takes: string, does: string]
  /** The message of an error that it throws is shown on stderr, without a stack. */
  run(argv: readonly string[]): Promise<void>
}

const httpUsage = [
  ['--http', 'serve http://127.0.0.1:3000/mcp'],
  ['--http --port 4000', 'on another port'],
] as const

function usage({ name, about, argument, commands = {}, httpAlternative: overHttp }: MainOptions): string {
  const rows: readonly (readonly [takes: string, does: string])[] = [
    [argument === undefined ? '' : `[${argument}]`, 'speak MCP on stdin and stdout (what a client starts)'],
    ...(overHttp === undefined ? httpUsage : []),
    ['--data <folder>', 'keep its data there, as sluice start does'],
    ...Object.entries(commands).map(([command, { usage }]) => [`${command} ${usage[0]}`, usage[1]] as const),
    ['--version', ''],
  ]
  const lines = rows.map(([takes, does]) => {
    const call = `  ${name} ${takes}`.trimEnd()
    const column = name.length + 25
    return call.length > column - 2
      ? `${call}\n${' '.repeat(column)}${does}`
      : `${call.padEnd(column)}${does}`.trimEnd()
  })
  return [`${about}\n`, ...lines, ...(overHttp === undefined ? [] : ['', `Over HTTP: ${overHttp}`])].join('\n')
}

/**
 * Returns the folder of a server in a data folder, and creates it. Every program uses this layout, so that `sluice start`,
 * a binary that a client starts and an import find the same data.
 */
export function serverFolder(data: string, server: string): string {
  const folder = join(resolve(data), 'servers', server)
  makePrivateFolder(folder)
  return folder
}

/** Returns the folder of a binary such as `sluice-memory`, in `--data`, `SLUICE_DATA`, or the data folder of the account. */
export const dataFolder = (name: string, data: string | undefined, env: Environment = process.env): string =>
  serverFolder(dataRoot(data, env), name.replace(/^sluice-/, ''))

/** Returns the data folder of all servers, which `sluice approvals --data` takes. */
function dataRoot(data: string | undefined, env: Environment): string {
  const usual = join(env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'sluice')
  return resolve(data ?? (env['SLUICE_DATA'] || usual))
}

/** Returns the line that approves a ticket when a person pastes it into a terminal. */
const approveLine =
  (root: string) =>
  (id: string): string =>
    `npx -y @sluice/cli approvals approve ${id} --data ${quoted(root)}`

/** Quotes a word for a POSIX shell, or for the shells of Windows. */
function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  return process.platform === 'win32' ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`
}

/** Opens the store. Only plugins with tickets need one that outlives the process, so SQLite is loaded only for them. */
async function openStore(root: string, isKept: boolean): Promise<{ readonly store: Store; close(): Promise<void> }> {
  if (!isKept) return { store: memoryStore(nodeClock), close: async () => {} }
  const { sqliteStore } = await import('./stores/sqlite.ts')
  const store = sqliteStore(join(root, 'sluice.db'))
  return { store, close: () => store.close() }
}

/** Explains the silence to a person who starts a server by hand. */
const terminalHint = 'waiting for MCP messages on stdin, as a client sends them. --http serves a URL; --help says more.'

/** Ends the process if Node is too old, with a message that names the version it needs. */
export function requireNode(name: string, version: string = process.versions.node): void {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > 22 || (major === 22 && minor >= 13)) return
  process.stderr.write(`${name} needs Node 22.13 or newer; this is ${version}. Get one from https://nodejs.org\n`)
  process.exit(1)
}

/** Runs the binary until the process ends. An invalid flag prints the usage on stderr, and the exit code is 2. */
export async function runMain(open: OpenServer, options: MainOptions): Promise<void> {
  const { argv = process.argv.slice(2), name, version } = options
  requireNode(name)
  const [first = '', ...rest] = argv
  const command = options.commands && Object.hasOwn(options.commands, first) ? options.commands[first] : undefined
  if (command) {
    // A reader such as `head` may close the pipe early. 141 is the exit code that shells give to programs that then stop.
    process.stdout.on('error', (thrown: NodeJS.ErrnoException) => process.exit(thrown.code === 'EPIPE' ? 141 : 1))
    return command.run(rest).catch(giveUp)
  }
  const flags = readFlags(argv, options.argument !== undefined)
  if (typeof flags === 'string') {
    process.stderr.write(`${flags}\n\n${usage(options)}\n`)
    process.exitCode = 2
    return
  }
  if (flags.help) {
    process.stdout.write(`${usage(options)}\n`)
    return
  }
  if (flags.http && options.httpAlternative !== undefined)
    return giveUp(`callers over HTTP must be known: use ${options.httpAlternative}`)
  if (flags.version) {
    process.stdout.write(`${version}\n`)
    return
  }
  const env = takeEnvironment()
  let folder: string
  try {
    folder = dataFolder(name, flags.data, env)
  } catch (thrown) {
    return giveUp(`cannot create the data folder: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
  }
  const logger = stderrLogger()
  const argument = flags.argument === undefined ? {} : { argument: flags.argument }
  const opened = await open({ folder, env, logger, clock: nodeClock, ...argument }).catch(giveUp)
  if (!opened) return
  removeVariables(opened.secrets ?? [])
  if (opened.state !== 'ready') process.stderr.write(`${name}: ${opened.state}\n`)
  const root = dataRoot(flags.data, env)
  const { store, close: closeStore } = await openStore(root, options.use !== undefined && flags.http !== true)
  const close = async (): Promise<void> => {
    await opened.close()
    await closeStore()
  }
  const server = createServer(opened.definition, {
    store,
    use: [
      log(logger),
      ...(opened.layers ?? []).map(customLayer),
      ...(options.use?.({ store, clock: nodeClock, logger, command: approveLine(root) }) ?? []),
    ],
  })
  opened.started?.(server)
  const { maxMessageBytes: most } = opened
  if (flags.http) {
    const port = Number(flags.port ?? 3000)
    const serving = await serveHttp(server, {
      port,
      ...(most && { maxBodyBytes: most }),
      ...(opened.stateless && { sessions: sessions({ required: false }) }),
    }).catch(giveUp)
    if (!serving) return close()
    onSignals(serving, { flush: close })
    process.stderr.write(`${name} ${version} on ${serving.url}\n`)
    return
  }
  if (process.stdin.isTTY) process.stderr.write(`${name} ${version}: ${terminalHint}\n`)
  await serveStdio(server, { ...(most && { maxLineBytes: most }), flush: close }).closed

  /** Writes the reason to stderr for the person who started it, because no client is connected yet. */
  function giveUp(thrown: unknown): void {
    const taken = thrown instanceof Error && 'code' in thrown && thrown.code === 'EADDRINUSE'
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    process.stderr.write(`${name}: ${taken ? `${why}; choose another with --port` : why}\n`)
    process.exitCode = 1
  }
}

interface Flags {
  readonly http?: boolean
  readonly stdio?: boolean
  readonly help?: boolean
  readonly version?: boolean
  readonly port?: string
  readonly data?: string
  readonly argument?: string
}

function readFlags(argv: readonly string[], takesOne: boolean): Flags | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: takesOne,
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
    const [argument, more] = positionals
    if (more !== undefined) return `Unexpected argument '${more}': only one is allowed`
    return argument === undefined ? values : { ...values, argument }
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown)
  }
}
