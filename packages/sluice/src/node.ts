/** Serving on Node: HTTP and stdio. */

import { readFileSync } from 'node:fs'
import type { Logger } from './core/log.ts'
import { readSecret } from './core/secrets.ts'
import { ask, health, log, once } from './parts.ts'
import type { ServerDefinition } from './protocol/definition.ts'
import type { Server } from './protocol/server.ts'
import type { Runtime } from './server.ts'
import { createServer as createPortableServer } from './server.ts'
import { memoryStore } from './stores/memory.ts'
import { nodeClock } from './transports/node/clock.ts'
import type { Environment } from './transports/node/environment.ts'
import { removeVariables } from './transports/node/environment.ts'
import type { NodeHttpOptions } from './transports/node/http-handler.ts'
import { stderrLogger } from './transports/node/json-logger.ts'
import type { HttpListener, ListenOptions, Mount } from './transports/node/listen.ts'
import { listen } from './transports/node/listen.ts'
import type { StdioListener, StdioOptions } from './transports/node/stdio.ts'
import { listenStdio } from './transports/node/stdio.ts'
import type { StrayPolicy } from './transports/node/strays.ts'
import { handleStrays, withOrigin } from './transports/node/strays.ts'

export { isLoopback } from './core/loopback.ts'
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
export { protectedResource } from './transports/http/well-known.ts'
export { nodeClock } from './transports/node/clock.ts'
export type { Environment } from './transports/node/environment.ts'
export { childEnvironment, removeVariables, takeEnvironment } from './transports/node/environment.ts'
export { toFastify } from './transports/node/fastify.ts'
export type { NodeHandler, NodeHttpOptions, SocketServer, SocketTransport } from './transports/node/http-handler.ts'
export { createHttpHandler } from './transports/node/http-handler.ts'
export type { JsonLogger } from './transports/node/json-logger.ts'
export { fileLogger, stderrLogger } from './transports/node/json-logger.ts'
export type { DrainOptions, HttpListener, ListenOptions } from './transports/node/listen.ts'
export type { LogWriter } from './transports/node/log-writer.ts'
export { createLogWriter, openLog, openStderr } from './transports/node/log-writer.ts'
export { readLines } from './transports/node/read-lines.ts'
export type { SignalOptions } from './transports/node/signals.ts'
export { onSignals } from './transports/node/signals.ts'
export type { StdioListener, StdioOptions } from './transports/node/stdio.ts'
export type { StrayPolicy } from './transports/node/strays.ts'

let takenSecret: readonly string[] | undefined

/**
 * Returns `SLUICE_SECRET`, or the content of the file that `SLUICE_SECRET_FILE` names; two values while rotating. Taken out of the environment,
 * which every program inherits that a tool starts; asked again, it is remembered.
 */
export function secretFromEnvironment(env: Environment = process.env): readonly string[] | undefined {
  const found = readSecret(env, (path) => readFileSync(path, 'utf8'))
  removeVariables(['SLUICE_SECRET'])
  takenSecret = found ?? takenSecret
  return takenSecret
}

/** Runs a definition on Node: with its clock and, unless `store` names another, a store in this process's memory. */
export function createServer(definition: ServerDefinition, runtime: Runtime = {}): Server {
  const { clock = nodeClock } = runtime
  return createPortableServer(definition, { ...runtime, clock, store: runtime.store ?? memoryStore(clock) })
}

/** What a definition runs on when nothing else is said: questions are asked, keys kept, the log is on stderr. */
export const nodeRuntime = (logger: Logger = stderrLogger()): Runtime => ({
  clock: nodeClock,
  log: log(logger),
  ask: ask(),
  once: once(),
  health: health(),
})

const toServer = (from: ServerDefinition | Server, runtime: Runtime = {}): Server =>
  'handle' in from ? from : createServer(from, { ...nodeRuntime(), ...runtime })

/** A gated tool would be there and never run: whoever wrote it wants to know before the first call. */
function toNetworkServer(from: ServerDefinition | Server, runtime: Runtime = {}): Server {
  const gated = 'handle' in from ? undefined : from.tools?.find(({ policy }) => policy.approval !== 'never')
  if (gated && !runtime.approvals)
    throw new TypeError(
      `tool "${gated.name}" needs approvals, and nobody could give one: make the server yourself, with createServer(definition, { approvals: approvals({ … }), authenticate: authenticate({ … }), once: once() })`,
    )
  return toServer(from, runtime)
}

/** A server that listens: where, and how to end it. */
export interface HttpServing extends Omit<HttpListener, 'urls'> {
  /** Where the endpoint is. */
  readonly url: string
}
/** What happens to errors that no code waits for. */
export interface StrayOptions {
  /**
   * A rejection without a handler, or a throw in a timer of a tool: `serve` logs it with the tool's name (`strayError`),
   * counts it, and goes on, so that a bug in one tool does not end the calls of all tenants. `end` logs it too, then drains
   * and ends the process with 1, for operators who restart it. `serve` by default.
   */
  readonly strays?: StrayPolicy
}
/** Where to listen and what HTTP does besides; `runtime` is what `createServer` takes. */
export type ServeHttpOptions = ListenOptions & StrayOptions & { readonly runtime?: Runtime }

/** Listens, and takes care of errors that the tools leave behind until it is closed. */
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

/** Streamable HTTP on 127.0.0.1:3000/mcp unless said otherwise. */
export async function serveHttp(from: ServerDefinition | Server, options: ServeHttpOptions = {}): Promise<HttpServing> {
  const { urls, ...listening } = await listenHandlingStrays(
    [{ base: '', server: toNetworkServer(from, options.runtime), options: {} }],
    options,
  )
  return { ...listening, url: urls[0] ?? '' }
}

/** One of several servers on a port: with what differs from the port's options. */
export interface ServerMount extends NodeHttpOptions {
  readonly server: ServerDefinition | Server
  readonly runtime?: Runtime
}
/** Servers that listen together: where each is, and how to end them. */
export interface ManyServing extends Omit<HttpListener, 'urls'> {
  /** Where each endpoint is, by the server's path. */
  readonly urls: { readonly [base: string]: string }
}

/** Several servers on one port, behind one gate, each below a path of its own: `/memory` has its endpoint at `/memory/mcp`. */
export async function serveMany(
  sites: { readonly [base: string]: ServerMount },
  options: ListenOptions & StrayOptions = {},
): Promise<ManyServing> {
  const [first, ...rest] = Object.entries(sites).map(
    ([base, { server, runtime, ...own }]): Mount => ({ base, server: toNetworkServer(server, runtime), options: own }),
  )
  if (!first) throw new TypeError('sites: name at least one')
  const { urls, ...listening } = await listenHandlingStrays([first, ...rest], options)
  return {
    ...listening,
    urls: Object.fromEntries([first, ...rest].map(({ base }, index) => [base, urls[index] ?? ''])),
  }
}

/** The process's own stdin and stdout. */
export function serveStdio(
  from: ServerDefinition | Server,
  options: StdioOptions & StrayOptions & { readonly runtime?: Runtime } = {},
): StdioListener {
  const server = toServer(from, options.runtime)
  const serving = listenStdio(withOrigin(server), options)
  // Pipes that were handed in are not all that this process does.
  if (options.input !== undefined || options.output !== undefined) return serving
  const exit = (): void => process.exit(1)
  const end = (): void => {
    server.shutDown(options.drainMs ?? 0).then(exit, exit)
  }
  const unwatch = handleStrays([server], options.strays === 'end' ? end : undefined)
  return { ...serving, closed: serving.closed.finally(unwatch) }
}
