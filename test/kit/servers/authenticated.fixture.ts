/** A server with authentication over real HTTP, with the address that its tokens must name. */

import type { Call, Layer, LogLine, Runtime, ServerDefinition } from 'sluice'
import { log } from 'sluice'
import { createServer, protectedResource, serveHttp } from 'sluice/node'
import { freePort } from '../processes/programs.ts'

export interface AuthenticatedServer {
  readonly url: string
  readonly lines: readonly LogLine[]
  /** Calls as the inner layers saw them. */
  readonly calls: readonly Call[]
  close(): Promise<void>
}

export interface ServeOptions {
  readonly definition: ServerDefinition
  readonly authorizationServers: readonly string[]
  readonly scopes?: readonly string[]
  /** Further options. */
  readonly runtime?: Runtime
  /** Created once the address is known, because tokens name it. */
  authenticate(url: string): NonNullable<Runtime['authenticate']>
}

export async function serveAuthenticated(options: ServeOptions): Promise<AuthenticatedServer> {
  const { definition, authorizationServers, scopes = [], runtime = {} } = options
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/mcp`
  const lines: LogLine[] = []
  const note = (line: LogLine): void => {
    lines.push(line)
  }
  const inside: Call[] = []
  const watch: Layer = (next) => (call) => {
    inside.push(call)
    return next(call)
  }
  const server = createServer(definition, {
    ...runtime,
    log: log({ info: note, warn: note, error: note }),
    authenticate: options.authenticate(url),
    layers: [watch],
  })
  const resource = protectedResource({ resource: url, authorizationServers, scopes })
  try {
    const { close } = await serveHttp(server, { port, resource })
    return { url, lines, calls: inside, close }
  } catch (thrown) {
    // Another process took the free port in the meantime.
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'EADDRINUSE') return serveAuthenticated(options)
    throw thrown
  }
}
