/** Serving on Node: HTTP and stdio. */

import { readFileSync } from 'node:fs'
import type { Logger } from './core/log.ts'
import { secretFrom } from './core/secrets.ts'
import { nodeClock } from './node-clock.ts'
import { ask, health, log, once } from './parts.ts'
import type { ServerDefinition } from './protocol/definition.ts'
import type { Server } from './protocol/server.ts'
import type { Runtime } from './server.ts'
import { createServer } from './server.ts'
import type { HttpServing, ServeHttpOptions } from './transports/http/node.ts'
import { listenHttp } from './transports/http/node.ts'
import { stderrLogger } from './transports/stderr.ts'
import type { StdioOptions, StdioServing } from './transports/stdio.ts'
import { listenStdio } from './transports/stdio.ts'

export { nodeClock } from './node-clock.ts'
export type { HttpServing, NodeHandler, ServeHttpOptions } from './transports/http/node.ts'
export { createHttpHandler } from './transports/http/node.ts'
export { stderrLogger } from './transports/stderr.ts'
export type { StdioOptions, StdioServing } from './transports/stdio.ts'

/** `SLUICE_SECRET`, or the file that `SLUICE_SECRET_FILE` names; two values while rotating. */
export const secretFromEnvironment = (): readonly string[] | undefined =>
  secretFrom(process.env, (path) => readFileSync(path, 'utf8'))

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

/** Streamable HTTP on 127.0.0.1:3000/mcp unless said otherwise. */
export const serveHttp = (
  from: ServerDefinition | Server,
  options: ServeHttpOptions & { readonly runtime?: Runtime } = {},
): Promise<HttpServing> => listenHttp(toServer(from, options.runtime), options)

/** The process's own stdin and stdout. */
export const serveStdio = (
  from: ServerDefinition | Server,
  options: StdioOptions & { readonly runtime?: Runtime } = {},
): StdioServing => listenStdio(toServer(from, options.runtime), options)
