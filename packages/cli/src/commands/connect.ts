/** `sluice connect`: the stdio side of a server over HTTP, for clients that only start commands. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Layer } from 'sluice'
import { gateway, upstream } from 'sluice/gateway-node'
import { createServer, isLoopback, serveStdio } from 'sluice/node'
import { customLayer, log, park } from 'sluice/plugins'
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
  const { config, file } = await loadConfig({
    ...{ file: options.config, cwd, env, flags: { data: options.data } },
    fallBackToHome: true,
  })
  const url = new URL(isUrl(target) ? target : addressIn(config, target))
  const folder = dataFolder(config.data)
  const isLocal = isLoopback(url.hostname)
  if (isLocal && options.start !== false && !(await isAnswering(url.origin))) {
    if (Number(url.port) !== config.port)
      throw new CommandError(
        `No response from ${url.origin}, and the configured port is ${config.port}, so it cannot be started.`,
      )
    const configured = file === undefined ? [] : ['--config', file]
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

/** How long a server behind the local Sluice may take until its tools are known. Clients wait for about a minute. */
const listMs = 55_000
const pollMs = 500

/** Serves the server at the URL on stdio. The other side checks and records, so nothing is done twice. */
async function relay(
  { terminal, signal }: CommandContext,
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
  const server = createServer(definition, {
    use: [log(logger), park(), url.protocol === 'http:' && customLayer(withoutPages)],
  })
  await server.ready()
  const problemNow = (): string | undefined => far.states().map(problemOf)[0]
  // The server behind may still be downloaded. Clients do not start a command again that ended.
  const until = Date.now() + listMs
  while (problemNow()?.includes('not reached yet') && Date.now() < until && !signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, pollMs))
    await far.restart(name).catch(() => undefined)
  }
  const [state] = far.states()
  const problem = problemNow()
  if (problem !== undefined) {
    await server.close()
    throw new CommandError((await isMissing(url)) ? missing(url) : `${url.href}: ${escapeControls(problem)}`)
  }
  terminal.err(`Connected to ${url.href}: ${plural(state?.tools ?? 0, 'tool')}`)
  await serveStdio(server).closed
  return exitCodes.ok
}

/** Whether the program at the address says that it has no such path. */
const isMissing = (url: URL): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
    async ({ status, body }) => {
      await body?.cancel()
      return status === 404
    },
    () => false,
  )

const missing = ({ href, origin }: URL): string =>
  `${href} does not exist on the server at ${origin}. If it was added to the configuration of Sluice later, stop Sluice ("sluice upstreams list" shows its process) and try again.`

/**
 * Hides that the client can open pages. The page of an approval is the console's, over http on this machine, and the
 * gateway relays only https pages. Without the page, the answer says in words where to approve.
 */
const withoutPages: Layer = (next) => (call) => {
  const { elicitation, ...others } = call.capabilities
  if (typeof elicitation !== 'object' || elicitation === null || !('url' in elicitation)) return next(call)
  const { url: _, ...kept } = elicitation
  return next({ ...call, capabilities: { ...others, ...(Object.keys(kept).length > 0 && { elicitation: kept }) } })
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
