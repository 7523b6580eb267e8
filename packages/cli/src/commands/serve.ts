/** `sluice serve`: runs one server, from a module, built in or configured. `--watch` reloads a module. */

import type { OpenedServer } from 'sluice'
import { isLoopback } from 'sluice/node'
import { isUpstream } from '../config/is-upstream.ts'
import type { LoadedConfig } from '../config/load.ts'
import { isInGroup } from '../config/load.ts'
import type { Config, ServerSettings } from '../config/schema.ts'
import { loggerOf } from '../host/logger.ts'
import { clock, isGated } from '../host/run.ts'
import { isModule, openServer } from '../host/servers.ts'
import { sharedPostgres } from '../host/store.ts'
import { CommandError, escapeControls, exitCodes, styled, wrapText } from '../output.ts'
import type { CommandContext } from './context.ts'
import type { ServingFlags } from './load-for-serving.ts'
import { loadForServing } from './load-for-serving.ts'
import { choosesStdio, serveOne } from './serve-one.ts'

export interface ServeOptions extends ServingFlags {
  readonly stdio?: boolean
  readonly http?: boolean
  readonly watch?: boolean
}

export async function serve(context: CommandContext, target: string, options: ServeOptions): Promise<number> {
  const { terminal, env } = context
  const isStdio = choosesStdio(options)
  const loaded = await loadForServing(context, options)
  const { config, file, folder } = loaded
  const settings = config.servers?.[target]
  const logger = loggerOf(config)
  if (settings && isUpstream(settings)) {
    if (options.watch) throw new CommandError(watchNeedsModule, exitCodes.usage)
    const { openUpstreams } = await import('../host/upstreams.ts')
    const upstreams = await openUpstreams({ [target]: { ...settings, enabled: true } }, config, {
      ...{ env, file: loaded.file },
    })
    const [named] = upstreams?.named ?? []
    if (!upstreams || !named) throw new CommandError(`"servers.${target}" cannot be opened`)
    return serveOne(context, { ...named, config, folder, file, logger, isStdio, gateway: upstreams.gateway })
  }
  const module = settings?.module ?? (isModule(target) ? target : undefined)
  if (options.watch && module === undefined) throw new CommandError(watchNeedsModule, exitCodes.usage)
  const name = module === undefined || settings ? target : nameOf(module)
  const open = (): Promise<OpenedServer> =>
    openServer({
      ...{ name, module, folder, argument: settings?.folder, logger, clock },
      ...{ env: withVariables(env, settings), postgres: sharedPostgres(config, env) },
    })
  const opened = await (isStdio ? withStdoutSilenced(open) : open())
  if (opened.state !== 'ready') terminal.err(`${name}: ${escapeControls(opened.state)}`)
  const local = applyLocalDefaults(loaded, isGated(opened.definition))
  const print = (text: string): void => terminal.err(styled(terminal, 'dim', wrapText(terminal, text)))
  const { watchModule } = options.watch ? await import('../host/reload.ts') : { watchModule: undefined }
  return serveOne(context, {
    ...{ name, opened, config: local, folder, file, logger, isStdio },
    ...(watchModule &&
      module !== undefined && {
        watch: { module, start: (server) => watchModule(module, server, local.timeoutMs, print) },
      }),
  })
}

const watchNeedsModule = '--watch works only with a module: give a path such as ./server.ts'

const withVariables = (env: CommandContext['env'], settings: ServerSettings | undefined): CommandContext['env'] => ({
  ...env,
  ...settings?.env,
})

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
