/** Serving on Node: HTTP and stdio. */

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Plugin } from './core/plugin.ts'
import { readSecret } from './core/secrets.ts'
import { elicitation } from './plugins/elicitation.ts'
import { health } from './plugins/health.ts'
import { idempotency } from './plugins/idempotency.ts'
import { log } from './plugins/log.ts'
import { park } from './plugins/park.ts'
import type { ServerDefinition } from './protocol/definition.ts'
import type { Server, TransportServer } from './protocol/server.ts'
import { toTransportServer } from './protocol/server.ts'
import type { ServerOptions } from './server.ts'
import { createServer as createPortableServer } from './server.ts'
import { memoryStore } from './stores/memory.ts'
import { nodeClock } from './transports/node/clock.ts'
import type { Environment } from './transports/node/environment.ts'
import { removeVariables } from './transports/node/environment.ts'
import type { NodeHttpOptions } from './transports/node/http-handler.ts'
import { stderrLogger } from './transports/node/json-logger.ts'
import type { HttpListener, ListenOptions, Mount } from './transports/node/listen.ts'
import { listen } from './transports/node/listen.ts'
import { onSignals } from './transports/node/signals.ts'
import type { StdioListener, StdioOptions } from './transports/node/stdio.ts'
import { listenStdio } from './transports/node/stdio.ts'
import type { StrayPolicy } from './transports/node/strays.ts'
import { handleStrays, withOrigin, withOriginPerTool } from './transports/node/strays.ts'

export { isLoopback } from './core/loopback.ts'
export { protectedResource } from './core/protected-resource.ts'
export {
  createPrivateFile,
  isReadableByOthers,
  makePrivateFile,
  makePrivateFolder,
  readPrivateFile,
  replacePrivateFile,
  restrictToOwner,
} from './stores/private-files.ts'
export type { HandleTextOptions } from './transports/handle-text.ts'
export { handleText } from './transports/handle-text.ts'
export { admission } from './transports/http/admission.ts'
export { sessions } from './transports/http/legacy/session-routes.ts'
export { nodeClock } from './transports/node/clock.ts'
export type { Environment } from './transports/node/environment.ts'
export { childEnvironment, removeVariables, takeEnvironment } from './transports/node/environment.ts'
export { toFastify } from './transports/node/fastify.ts'
export type { NodeHandler, NodeHttpOptions, SocketServer, SocketTransport } from './transports/node/http-handler.ts'
export { createHttpHandler } from './transports/node/http-handler.ts'
export type { JsonLogger } from './transports/node/json-logger.ts'
export { fileLogger, stderrLogger } from './transports/node/json-logger.ts'
export type { DrainOptions, HttpListener, ListenOptions } from './transports/node/listen.ts'
export { readLines } from './transports/node/read-lines.ts'
export type { SignalOptions } from './transports/node/signals.ts'
export { onSignals } from './transports/node/signals.ts'
export type { StdioListener, StdioOptions } from './transports/node/stdio.ts'
export type { StrayPolicy } from './transports/node/strays.ts'

let takenSecret: readonly string[] | undefined

/**
 * Returns `SLUICE_SECRET`, or the content of the file that `SLUICE_SECRET_FILE` names; two values while rotating. The
 * variable is removed from the environment, because programs that a tool starts would inherit it. Later calls return the
 * same secret.
 */
export function secretFromEnvironment(env: Environment = process.env): readonly string[] | undefined {
  const found = readSecret(env, (path) => readFileSync(path, 'utf8'))
  removeVariables(['SLUICE_SECRET'])
  takenSecret = found ?? takenSecret
  return takenSecret
}

/**
 * Runs a definition on Node. By default it has a log on stderr, elicitation, parked calls, idempotency keys, health pages
 * and a store in memory. A plugin in "use" replaces the default in its slot.
 */
export function createServer(definition: ServerDefinition, options: ServerOptions = {}): Server {
  const { clock = nodeClock } = options
  const store = options.store ?? memoryStore(clock)
  return createPortableServer(definition, {
    ...options,
    clock,
    store,
    use: [...nodeDefaults(), ...(options.use ?? [])],
  })
}

const nodeDefaults = (): readonly Plugin[] => [
  { ...log(stderrLogger()), isDefault: true },
  { ...elicitation(), isDefault: true },
  { ...park(), isDefault: true },
  { ...idempotency(), isDefault: true },
  { ...health(), isDefault: true },
]

/** Options beside a definition that is served. */
interface ServedServer {
  /** Plugins for a definition. A created server has its own. */
  readonly use?: ServerOptions['use']
}

function toServer(from: ServerDefinition | Server, { use }: ServedServer): TransportServer {
  if (!('handle' in from)) return toTransportServer(createServer(from, use && { use }))
  if (use)
    throw new TypeError('"use" is for a definition: this server was already created, so pass "use" to createServer')
  return toTransportServer(from)
}

/** Refuses a gated tool that no person could approve, so that its author learns it before the first call. */
function toNetworkServer(from: ServerDefinition | Server, served: ServedServer): TransportServer {
  const gated = 'handle' in from ? undefined : from.tools?.find(({ policy }) => policy.approval !== 'never')
  if (gated && !served.use?.some((plugin) => plugin && plugin.slot === 'approvals'))
    throw new TypeError(
      `tool "${gated.name}" needs approvals: add createApprovals({ store }) and authenticate({ … }) to "use" of createServer`,
    )
  return toServer(from, served)
}

/** A server that listens. */
export interface HttpServing extends Omit<HttpListener, 'urls'> {
  /** The URL of the endpoint. */
  readonly url: string
}
/** What happens to errors that no code waits for. */
export interface StrayOptions {
  /**
   * Handles a rejection without a handler, or a throw in a timer of a tool. `serve`, the default, logs it with the tool's
   * name (`strayError`), counts it, and goes on, so that a bug in one tool does not end the calls of all tenants. `end`
   * logs it too, then drains and ends the process with 1, for operators who restart it.
   */
  readonly strays?: StrayPolicy
}
/** Where to listen and what HTTP serves. */
export type ServeHttpOptions = ListenOptions & StrayOptions & ServedServer

/** Listens, and handles stray errors of the tools until it is closed. */
async function listenHandlingStrays(
  mounts: readonly [Mount, ...Mount[]],
  options: ListenOptions & StrayOptions,
): Promise<HttpListener> {
  const [first, ...rest] = mounts
  const toTraced = (mount: Mount): Mount => ({ ...mount, server: withOrigin(mount.server) })
  const listening = await listen([toTraced(first), ...rest.map(toTraced)], options)
  const exit = (): void => process.exit(1)
  let ending = false
  const end = (): void => {
    if (!ending) listening.drain().then(exit, exit)
    ending = true
  }
  const unwatch = handleStrays(
    [first.server, ...rest.map(({ server }) => server)],
    options.strays === 'end' ? end : undefined,
  )
  return {
    ...listening,
    drain: (how) => listening.drain(how).finally(unwatch),
    close: () => listening.close().finally(unwatch),
  }
}

/** Serves Streamable HTTP, on 127.0.0.1:3000/mcp by default. */
export async function serveHttp(from: ServerDefinition | Server, options: ServeHttpOptions = {}): Promise<HttpServing> {
  const { urls, ...listening } = await listenHandlingStrays(
    [{ base: '', server: toNetworkServer(from, options), options: {} }],
    options,
  )
  return { ...listening, url: urls[0] ?? '' }
}

/** One of several servers on a port, with the options that differ from the port's. */
export interface ServerMount extends NodeHttpOptions, ServedServer {
  readonly server: ServerDefinition | Server
}
/** Servers that listen on one port. */
export interface ManyServing extends Omit<HttpListener, 'urls'> {
  /** The URL of each endpoint, by the server's path. */
  readonly urls: { readonly [base: string]: string }
}

/** Serves several servers on one port, behind one admission control. The server at `/memory` has its endpoint at `/memory/mcp`. */
export async function serveMany(
  mounts: { readonly [base: string]: ServerMount },
  options: ListenOptions & StrayOptions = {},
): Promise<ManyServing> {
  const [first, ...rest] = Object.entries(mounts).map(([base, { server, use, ...options }]): Mount => {
    return { base, server: toNetworkServer(server, use ? { use } : {}), options }
  })
  if (!first) throw new TypeError('serveMany: name at least one server')
  const { urls, ...listening } = await listenHandlingStrays([first, ...rest], options)
  return {
    ...listening,
    urls: Object.fromEntries([first, ...rest].map(({ base }, index) => [base, urls[index] ?? ''])),
  }
}

/** Serves the process's own stdin and stdout. */
export function serveStdio(
  from: ServerDefinition | Server,
  options: StdioOptions & StrayOptions & ServedServer = {},
): StdioListener {
  const server = toServer(from, options)
  const origin = withOriginPerTool(server)
  const serving = listenStdio(origin.server, options, origin.enter)
  // With other pipes, this process also does other work, so its stray errors are not ours alone.
  if (options.input !== undefined || options.output !== undefined) return serving
  const exit = (): void => process.exit(1)
  const end = (): void => {
    server.shutDown(options.drainMs ?? 0).then(exit, exit)
  }
  const unwatch = handleStrays([server], options.strays === 'end' ? end : undefined)
  return { ...serving, closed: serving.closed.finally(unwatch) }
}

/** A program that serves on stdin and stdout, or at a URL. */
export type Serving = (StdioListener & { readonly url?: undefined }) | HttpServing

/**
 * Serves a definition as the command line says: `--stdio`, or `--http` (the default) with `--port` and `--host`. Prints the
 * address on stderr, and ends cleanly on SIGTERM and SIGINT.
 */
export async function serve(from: ServerDefinition | Server, served: ServedServer = {}): Promise<Serving> {
  const { values } = parseArgs({
    args: process.argv.slice(2),
    strict: false,
    options: {
      stdio: { type: 'boolean' },
      http: { type: 'boolean' },
      port: { type: 'string' },
      host: { type: 'string' },
    },
  })
  if (values['stdio'] === true && values['http'] !== true) return serveStdio(from, served)
  const port = Number(values['port'] ?? 3000)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new TypeError(`--port takes a number from 0 to 65535, not "${values['port']}"`)
  const serving = await serveHttp(from, {
    ...served,
    port,
    ...(typeof values['host'] === 'string' && { host: values['host'] }),
  }).catch((thrown: unknown) => {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EADDRINUSE')) throw thrown
    throw new Error(`Port ${port} is in use; choose another with --port`, { cause: thrown })
  })
  onSignals(serving)
  process.stderr.write(`Serving MCP on ${serving.url}\n`)
  return serving
}
