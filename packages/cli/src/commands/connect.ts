/** `sluice connect`: the stdio side of a server over HTTP, for clients that only start commands. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gateway, upstream } from 'sluice/gateway-node'
import { createServer, isLoopback, serveStdio } from 'sluice/node'
import { log, park } from 'sluice/plugins'
import { headersOf, isUrl } from '../client/open.ts'
import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { owner } from '../host/identities.ts'
import { isAnswering, startLocalSluice } from '../host/local-sluice.ts'
import { loggerOf } from '../host/logger.ts'
import { dataFolder } from '../host/store.ts'
import { problemOf } from '../host/upstreams.ts'
import { CommandError, escapeControls, exitCodes, plural } from '../output.ts'
import { version } from '../package.ts'
import type { CommandContext } from './context.ts'
import { nameFor } from './wrap-name.ts'

export interface ConnectCommandOptions {
  readonly config?: string
  readonly data?: string
  readonly token?: string
  readonly header?: readonly string[]
  readonly start?: boolean
}

export async function connect(
  context: CommandContext,
  target: string,
  options: ConnectCommandOptions,
): Promise<number> {
  const { env, cwd, terminal, signal } = context
  const { config } = await loadConfig({ file: options.config, cwd, env, flags: { data: options.data } })
  const url = new URL(isUrl(target) ? target : addressIn(config, target))
  const folder = dataFolder(config.data)
  const isLocal = isLoopback(url.hostname)
  if (isLocal && options.start !== false && !(await isAnswering(url.origin))) {
    if (Number(url.port) !== config.port)
      throw new CommandError(
        `No response from ${url.origin}, and the configured port is ${config.port}, so it cannot be started.`,
      )
    const configured = options.config === undefined ? [] : ['--config', options.config]
    await startLocalSluice(url.origin, {
      ...{ args: ['--data', folder, ...configured], cwd, env, signal },
      // A first start makes the key when it listens already.
      isReady: () => !config.authenticate?.apiKeys || keyIn(folder) !== undefined,
      print: (text) => terminal.err(text),
    })
  }
  const given = headersOf(options, env)
  const key = isLocal && !('authorization' in given) ? keyIn(folder) : undefined
  const headers = { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...given }
  return relay(context, url, headers, config)
}

/** Serves the server at the URL on stdio. The other side checks and records, so nothing is done twice. */
async function relay(
  { terminal }: CommandContext,
  url: URL,
  headers: { readonly [name: string]: string },
  config: Config,
): Promise<number> {
  const name = nameFor([url.href])
  const far = gateway({
    ...{ name, version },
    // One user and one connection: the definitions are those of the server, and so are the hints.
    upstreams: [upstream({ name, url, headers, scope: 'shared', trust: 'always', trustHints: true })],
  })
  const definition = far.endpoints[name]
  if (!definition) throw new CommandError(`${url.href} cannot be opened`)
  const logger = loggerOf({ ...config, log: { level: 'error', file: undefined } })
  const server = createServer(definition, { use: [log(logger), park()] })
  await server.ready()
  const [state] = far.states()
  const problem = state && problemOf(state)
  if (problem !== undefined) {
    await server.close()
    throw new CommandError(`${url.href}: ${escapeControls(problem)}`)
  }
  terminal.err(`Connected to ${url.href}: ${plural(state?.tools ?? 0, 'tool')}`)
  await serveStdio(server).closed
  return exitCodes.ok
}

/** Returns the address of a server of the configuration by its name. */
const addressIn = ({ host, port }: Config, name: string): string =>
  `http://${isLoopback(host) ? host : '127.0.0.1'}:${port}${name === 'all' ? '' : `/${name}`}/mcp`

/** Returns the key that `sluice start` made for the person at this machine; `undefined` if there is none. */
function keyIn(folder: string): string | undefined {
  try {
    const keys: unknown = JSON.parse(readFileSync(join(folder, 'keys.json'), 'utf8'))
    const key = typeof keys === 'object' && keys !== null ? (keys as { [name: string]: unknown })[owner] : undefined
    return typeof key === 'string' ? key : undefined
  } catch {
    // The server then says that it needs a credential.
    return undefined
  }
}
