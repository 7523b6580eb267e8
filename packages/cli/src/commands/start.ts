/** `sluice start`: runs the five built-in servers and the console on this machine, without configuration. */

import type { ConsoleServing } from '@sluice/console'
import type { Logger } from 'sluice'
import type { Gateway } from 'sluice/gateway-node'
import { isUpstream } from '../config/is-upstream.ts'
import type { Config } from '../config/schema.ts'
import { clientConfigs, keyPlaceholder, writeClientConfigs } from '../host/client-configs.ts'
import { listenForControl } from '../host/control.ts'
import type { Host } from '../host/host.ts'
import { createHost } from '../host/host.ts'
import type { Identities } from '../host/identities.ts'
import { demoNames, identitiesIn, owner } from '../host/identities.ts'
import { loggerOf } from '../host/logger.ts'
import type { NamedServer } from '../host/run.ts'
import { clock, explainListenError, refuseSplitData, runServers } from '../host/run.ts'
import { builtInNames, openServer } from '../host/servers.ts'
import { sharedPostgres } from '../host/store.ts'
import type { OpenedUpstreams } from '../host/upstreams.ts'
import { openUpstreams, problemOf } from '../host/upstreams.ts'
import { escapeControls, exitCodes, shortPath, styled, type Terminal, table, toJson, wrapText } from '../output.ts'
import type { CommandContext } from './context.ts'
import type { ServingFlags } from './load-for-serving.ts'
import { loadForServing } from './load-for-serving.ts'
import { drainOnSignal } from './wait-for-signal.ts'

export interface StartOptions extends ServingFlags {
  readonly demo?: boolean
  readonly json?: boolean
}

/** The longest grant. Its person should still remember it while it holds. */
const maxGrantMs = 3_600_000

export async function start(context: CommandContext, options: StartOptions): Promise<number> {
  const loaded = await loadForServing(context, options)
  const { config, file, folder } = loaded
  // People want to see the table, so the log goes to a file in the data folder by default.
  const logFile = config.log.file ?? `${folder}/sluice.log`
  const logger = loggerOf({ ...config, log: { ...config.log, file: logFile } })
  const host = await createHost(config, { env: context.env, logger, owner, grantMs: maxGrantMs })
  const { servers, upstreams, builtIn } = await openServers(context, loaded, logger)
  refuseSplitData(servers, config)

  const consolePage = await listenForConsole(host, config)
  const { serving } = await runServers(servers, host, config)
  const control = upstreams && (await listenForControl(folder, upstreams.gateway, logger))

  // Demo keys must not open a server that other people use, or one that a script started.
  const hasDemo = options.demo ?? (file === undefined && context.terminal.isInteractive === true)
  const keys = config.authenticate?.apiKeys
    ? await identitiesIn(folder, host.opened.store, [owner, ...(hasDemo ? demoNames : [])])
    : {}
  const urls = Object.fromEntries(servers.map(({ name, path = `/${name}` }) => [name, serving.urls[path] ?? '']))
  const configs = clientConfigs(urls, keys[owner] ?? '', { folder, file, builtIn })
  host.show({ gateway: upstreams?.gateway, clients: clientConfigs(urls, keyPlaceholder, { folder, file, builtIn }) })
  const started: StartedServers = {
    states: servers.map(({ name, opened }) => ({
      name,
      url: urls[name] ?? '',
      state: (upstreams && upstreamState(upstreams.gateway, name)) ?? opened.state,
    })),
    signInLink: consolePage && (await host.console?.link()),
    ...{ keys, configs, configsFolder: writeClientConfigs(folder, configs), folder, logFile },
    ...(typeof config.store === 'object' && { sharedStore: host.opened.name }),
  }
  context.terminal.out(options.json ? startedJson(started, config) : startedText(context, started))

  await drainOnSignal(context, serving, config)
  await consolePage?.close()
  await control?.close()
  await Promise.all(servers.map(({ opened }) => opened.close()))
  await host.opened.close()
  return exitCodes.ok
}

interface OpenedServers {
  readonly servers: readonly NamedServer[]
  readonly upstreams: OpenedUpstreams | undefined
  /** The names of the built-in servers among them. */
  readonly builtIn: readonly string[]
}

/** Opens the configured servers, by default all built-in ones. */
async function openServers(
  { env }: CommandContext,
  { config, file, folder }: Awaited<ReturnType<typeof loadForServing>>,
  logger: Logger,
): Promise<OpenedServers> {
  const all: NonNullable<Config['servers']> = Object.fromEntries(builtInNames.map((name) => [name, {}]))
  const configured = Object.entries(config.servers ?? all)
  const postgres = sharedPostgres(config, env)
  const servers: NamedServer[] = []
  for (const [name, settings] of configured) {
    const { module, folder: argument, enabled = true, env: extraEnv = {} } = settings
    if (!enabled || isUpstream(settings)) continue
    const opened = await openServer({
      ...{ name, module, folder, argument, postgres, logger, clock },
      env: { ...env, ...extraEnv },
    })
    servers.push({ name, opened })
  }
  const upstreams = await openUpstreams(Object.fromEntries(configured), config, { env, file })
  const builtIn = configured
    .filter(([name, settings]) => builtInNames.includes(name) && !isUpstream(settings) && settings.module === undefined)
    .map(([name]) => name)
  return { servers: [...servers, ...(upstreams?.named ?? [])], upstreams, builtIn }
}

/** Serves the console, if it is on. */
async function listenForConsole({ console }: Host, { console: at }: Config): Promise<ConsoleServing | undefined> {
  if (!at) return undefined
  return console
    ?.listen({ port: at.port, host: at.host, ...(at.origin && { origin: at.origin }) })
    .catch((thrown: unknown) => {
      throw explainListenError(thrown, at.host, at.port, '--console-port')
    })
}

/** What people and scripts are told when everything runs. */
interface StartedServers {
  readonly states: readonly { readonly name: string; readonly url: string; readonly state: string }[]
  readonly signInLink: string | undefined
  readonly keys: Identities
  readonly configs: ReturnType<typeof clientConfigs>
  readonly configsFolder: string
  readonly folder: string
  /** The name of the store, if it is not in the folder. */
  readonly sharedStore?: string
  readonly logFile: string
}

const startedJson = ({ states, signInLink, configsFolder, folder }: StartedServers, { authenticate }: Config): string =>
  toJson({
    servers: states,
    console: signInLink ?? null,
    ...(authenticate?.apiKeys && { keys: `${folder}/keys.json` }),
    clients: configsFolder,
  })

function startedText({ terminal, cwd }: CommandContext, started: StartedServers): string {
  const { states, signInLink, keys, configs, configsFolder, sharedStore, logFile } = started
  const folder = shortPath(cwd, started.folder)
  return [
    table(
      terminal,
      ['SERVER', 'URL', 'STATE'],
      states.map(({ name, url, state }) => [name, url, state === 'ready' ? 'ready' : 'see below']),
    ),
    ...states
      .filter(({ state }) => state !== 'ready')
      .map(({ name, state }) => wrapText(terminal, `${name}: ${escapeControls(state)}`, 2)),
    '',
    ...consoleLines(terminal, signInLink),
    ...(terminal.isInteractive ? keyLines(terminal, keys) : [`Keys in ${folder}/keys.json.`, '']),
    ...clientLines(terminal, configs, shortPath(cwd, configsFolder)),
    ...(sharedStore ? [styled(terminal, 'dim', wrapText(terminal, `State in ${sharedStore}.`))] : []),
    styled(terminal, 'dim', `${sharedStore ? 'Files' : 'Data'} in ${folder}, log in ${shortPath(cwd, logFile)}.`),
    styled(terminal, 'dim', 'Press Ctrl-C to stop.'),
  ].join('\n')
}

/** Returns why an upstream cannot serve yet; `undefined` if it can. The other servers run meanwhile. */
function upstreamState(gateway: Gateway, name: string): string | undefined {
  const state = gateway.states().find((each) => each.name === name)
  if (state?.definitions !== 'unknown') return undefined
  return `${problemOf(state) ?? 'not reached yet'}. It is tried again; see "sluice upstreams logs ${name}"`
}

/** Puts the link on a separate line, because it would otherwise not fit into 80 columns. */
const consoleLines = (terminal: Terminal, link: string | undefined): readonly string[] =>
  link === undefined
    ? ['The console is off.', '']
    : [
        'Console (works once, within 15 minutes; for a new link: sluice console link):',
        styled(terminal, 'cyan', link),
        '',
      ]

function keyLines(terminal: Terminal, keys: Identities): readonly string[] {
  const rows = Object.entries(keys).map(([name, key]) => [name, key, name === owner ? '' : 'DEMO'])
  if (rows.length === 0) return []
  const note = 'DEMO: two tenants to try things with. Neither sees the data of the other. --no-demo leaves them out.'
  return [
    table(terminal, ['SUBJECT', 'KEY', ''], rows),
    ...(rows.length > 1 ? [styled(terminal, 'yellow', wrapText(terminal, note))] : []),
    '',
  ]
}

function clientLines(terminal: Terminal, configs: ReturnType<typeof clientConfigs>, folder: string): readonly string[] {
  const copyFrom = `COPY FROM ${folder}`
  const widthOf = (...cells: readonly string[]): number => Math.max(...cells.map((cell) => cell.length + 2))
  const indent = widthOf(...configs.map(({ client }) => client)) + widthOf(copyFrom, ...configs.map(({ file }) => file))
  // A long place continues in the next row, because a place with a cut name cannot be found.
  const rows = configs.flatMap(({ client, file, destination }) =>
    wrapText(terminal, destination, indent)
      .split('\n')
      .map((line, at) => (at === 0 ? [client, file, line] : ['', '', line.trim()])),
  )
  return [table(terminal, ['CLIENT', copyFrom, 'INTO'], rows), '']
}
