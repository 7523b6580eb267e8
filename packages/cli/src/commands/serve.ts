/** `sluice serve`: runs one server, from a module or built in, on stdio, HTTP or WebSocket. `--watch` reloads a module. */

import type { OpenedServer, Server } from 'sluice'
import { isLoopback, serveStdio } from 'sluice/node'
import type { LoadedConfig } from '../config/load.ts'
import { isInGroup, loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { createHost } from '../host/host.ts'
import { identitiesIn, owner } from '../host/identities.ts'
import { loggerOf } from '../host/logger.ts'
import { omitUndefined } from '../host/omit-undefined.ts'
import { tightenPermissions } from '../host/permissions.ts'
import { watchModule } from '../host/reload.ts'
import { clock, explainListenError, isGated, refuseSplitData, runServers, toServer } from '../host/run.ts'
import { isModule, openServer } from '../host/servers.ts'
import { dataFolder } from '../host/store.ts'
import { CommandError, escapeControls, exitCodes, numberOf, styled } from '../output.ts'
import type { CommandContext } from './context.ts'
import { drainOnSignal } from './wait-for-signal.ts'

export interface ServeOptions {
  readonly config?: string
  readonly data?: string
  readonly port?: string
  readonly consolePort?: string
  readonly stdio?: boolean
  readonly http?: boolean
  readonly ws?: boolean
  readonly watch?: boolean
}

export async function serve(context: CommandContext, target: string, options: ServeOptions): Promise<number> {
  const { terminal, env, cwd } = context
  if (options.stdio && (options.http || options.ws))
    throw new CommandError('--stdio excludes --http and --ws: choose one', exitCodes.usage)
  const isStdio = !options.http && !options.ws && (options.stdio === true || process.stdin.isTTY !== true)
  const loaded = await loadConfig({
    file: options.config,
    cwd,
    env,
    flags: {
      port: numberOf('--port', options.port),
      'console.port': numberOf('--console-port', options.consolePort),
      data: options.data,
      websocket: options.ws,
    },
  })
  const module = isModule(target) ? target : undefined
  if (options.watch && module === undefined)
    throw new CommandError('--watch works only with a module: give a path such as ./server.ts', exitCodes.usage)
  const name = module === undefined ? target : nameOf(module)
  const folder = dataFolder(loaded.config.data)
  for (const each of tightenPermissions(folder)) terminal.err(each)
  const logger = loggerOf(loaded.config)
  const argument = loaded.config.servers?.[name]?.folder
  const open = (): Promise<OpenedServer> => openServer({ name, module, folder, argument, env, logger, clock })
  const opened = await (isStdio ? withStdoutSilenced(open) : open())
  if (opened.state !== 'ready') terminal.err(`${name}: ${escapeControls(opened.state)}`)
  const config = applyLocalDefaults(loaded, isGated(opened.definition))
  refuseSplitData([{ name, opened }], config)
  const host = await createHost(config, { env, logger, owner, stdio: isStdio })
  let closing: Promise<void> | undefined
  /** Closes once, because on stdio the transport calls it too. */
  const closeAll = (): Promise<void> => {
    closing ??= opened.close().then(() => host.opened.close())
    return closing
  }
  const startWatching = (server: Server): (() => void) | undefined =>
    options.watch && module !== undefined
      ? watchModule(module, server, config.timeoutMs, (text) => terminal.err(styled(terminal, 'dim', text)))
      : undefined
  if (isStdio) {
    const server = toServer({ name, opened }, host, config)
    const stopWatching = startWatching(server)
    const { maxMessageBytes: maxLineBytes } = opened
    // It handles signals itself, so that calls in flight finish first.
    const { graceMs: drainMs } = config.drain
    await serveStdio(server, { ...omitUndefined({ maxLineBytes, drainMs }), flush: closeAll }).closed
    stopWatching?.()
  } else {
    const at = config.console
    const page =
      at &&
      (await host.console?.listen({ port: at.port, host: at.host }).catch((thrown: unknown) => {
        throw explainListenError(thrown, at.host, at.port, '--console-port')
      }))
    const { serving, servers } = await runServers([{ name, opened }], host, config)
    const server = servers[name]
    const stopWatching = server && startWatching(server)
    terminal.err(`${name} on ${serving.urls[`/${name}`]}`)
    if (config.authenticate?.apiKeys)
      terminal.err(`Your key: ${(await identitiesIn(folder, host.opened.store, [owner]))[owner]}`)
    if (page) terminal.err(`Console (the link works once, within 15 minutes):\n${await host.console?.link()}`)
    if (stopWatching) terminal.err(styled(terminal, 'dim', `Reloads when ${module} changes. Press Ctrl-C to stop.`))
    else if (terminal.isTty) terminal.err(styled(terminal, 'dim', 'Press Ctrl-C to stop.'))
    await drainOnSignal(context, serving, config)
    stopWatching?.()
    await page?.close()
  }
  await closeAll()
  return exitCodes.ok
}

/** Sends stdout to stderr while a module loads, because its output must not reach the client. Later the transport does. */
async function withStdoutSilenced<T>(work: () => Promise<T>): Promise<T> {
  const { write } = process.stdout
  process.stdout.write = process.stderr.write.bind(process.stderr)
  try {
    return await work()
  } finally {
    process.stdout.write = write
  }
}

const nameOf = (module: string): string =>
  (module.split(/[\\/]/).at(-1) ?? 'server')
    .replace(/\.[a-z]+$/i, '')
    .replace(/[^a-z0-9-]/gi, '-')
    .toLowerCase() || 'server'

/** Turns keys and the console off for a local server without gated tools, so that trying it needs no setup. */
function applyLocalDefaults({ config, origins }: LoadedConfig, gated: boolean): Config {
  const isSet = (name: string): boolean => [...origins.keys()].some((path) => isInGroup(path, name))
  const isLocal = isLoopback(config.host)
  return {
    ...config,
    ...(!gated && isLocal && !isSet('authenticate') && { authenticate: null }),
    ...(!gated && !isSet('console') && { console: null }),
  }
}
