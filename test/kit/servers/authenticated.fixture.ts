/** A server with authentication over real HTTP, with the address that its tokens must name. */

import type { Call, Layer, LogLine, Plugin, PluginList, ServerDefinition } from 'sluice'
import { createServer, protectedResource, serveHttp } from 'sluice/node'
import { customLayer, log } from 'sluice/plugins'
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
  /** What it has besides. */
  readonly use?: PluginList
  /** Made when the address is known, since tokens name it. */
  authenticate(url: string): Plugin
}

export async function serveAuthenticated(options: ServeOptions): Promise<AuthenticatedServer> {
  const { definition, authorizationServers, scopes = [], use = [] } = options
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
    use: [log({ info: note, warn: note, error: note }), options.authenticate(url), customLayer(watch), ...use],
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
