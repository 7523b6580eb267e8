/** `sluice start`: the five servers and the console, on this machine, with nothing to configure. */

import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { createHost } from '../host/host.ts'
import type { Identities } from '../host/identities.ts'
import { demoNames, identitiesIn, owner } from '../host/identities.ts'
import { loggerOf } from '../host/logger.ts'
import { toPaste, writePasted } from '../host/paste.ts'
import type { Named } from '../host/run.ts'
import { clock, explained, runSites } from '../host/run.ts'
import { openServer, ownNames } from '../host/servers.ts'
import { dataFolder } from '../host/store.ts'
import { exitCodes, shown, styled, type Terminal, table, toJson } from '../output.ts'
import type { Around } from './command.ts'
import { untilStopped } from './stopping.ts'

export interface StartOptions {
  readonly config?: string
  readonly port?: string
  readonly consolePort?: string
  readonly data?: string
  readonly demo?: boolean
  readonly json?: boolean
}

export async function start(around: Around, options: StartOptions): Promise<number> {
  const { terminal, env, cwd } = around
  const { config } = await loadConfig({
    file: options.config,
    cwd,
    env,
    flags: { port: numeric(options.port), 'console.port': numeric(options.consolePort), data: options.data },
  })
  const folder = dataFolder(config.data)
  // The table is what people want to see; lines of requests go to a file beside the data unless said otherwise.
  const quiet: Config = { ...config, log: { ...config.log, file: config.log.file ?? `${folder}/sluice.log` } }
  const logger = loggerOf(quiet)
  const host = await createHost(config, { env, logger, owner })
  const all: NonNullable<Config['servers']> = Object.fromEntries(ownNames.map((name) => [name, {}]))
  const wanted = Object.entries(config.servers ?? all)
  const named: Named[] = []
  for (const [name, { module, enabled = true, env: more = {} }] of wanted)
    if (enabled)
      named.push({ name, opened: await openServer({ name, module, folder, env: { ...env, ...more }, logger, clock }) })

  const at = config.console
  const page =
    at &&
    (await host.console
      ?.listen({ port: at.port, host: at.host, ...(at.origin && { origin: at.origin }) })
      .catch((thrown: unknown) => {
        throw explained(thrown, at.host, at.port, '--console-port')
      }))
  const { serving } = await runSites(named, host, config)
  const keys = config.authenticate?.apiKeys
    ? await identitiesIn(folder, host.opened.store, [owner, ...(options.demo === false ? [] : demoNames)])
    : {}
  const urls = Object.fromEntries(named.map(({ name }) => [name, serving.urls[`/${name}`] ?? '']))
  const pasted = toPaste(urls, keys[owner] ?? '')
  const signIn = page && (await host.console?.link())
  const clients = writePasted(folder, pasted)
  if (options.json)
    terminal.out(
      toJson({
        servers: named.map(({ name, opened }) => ({ name, url: urls[name], state: opened.state })),
        console: signIn,
        keys,
        clients,
      }),
    )
  else
    terminal.out(
      [
        table(
          terminal,
          ['SERVER', 'URL', 'STATE'],
          named.map(({ name, opened }) => [name, urls[name] ?? '', shown(opened.state)]),
        ),
        '',
        `Console   ${signIn ? `${styled(terminal, 'cyan', signIn)}  (signs in once, within 15 minutes)` : 'off'}`,
        `Data      ${folder} (${host.opened.name.split(' ')[0]}), log ${quiet.log.file ?? 'stderr'}`,
        ...keyLines(terminal, keys),
        '',
        ...clientLines(pasted, clients),
        '',
        styled(terminal, 'dim', 'Ctrl-C stops it.'),
      ].join('\n'),
    )
  await untilStopped(around, serving, config)
  await page?.close()
  await Promise.all(named.map(({ opened }) => opened.close()))
  await host.opened.close()
  return exitCodes.ok
}

/** What is no number is refused by the configuration, with its name. */
const numeric = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text))

function keyLines(terminal: Terminal, keys: Identities): readonly string[] {
  const { [owner]: mine, ...demo } = keys
  if (mine === undefined) return []
  return [
    `Your key  ${mine}`,
    ...Object.entries(demo).map(
      ([name, key]) => `${styled(terminal, 'yellow', 'DEMO')}      ${name}, a tenant to try things with: ${key}`,
    ),
  ]
}

function clientLines(pasted: ReturnType<typeof toPaste>, folder: string): readonly string[] {
  const code = pasted.find(({ client }) => client === 'Claude Code')
  const [first = ''] = code?.text.split('\n') ?? []
  return [
    'Claude Code, for one of them:',
    `  ${first}`,
    `For all of them, and for ${pasted
      .slice(1)
      .map(({ client }) => client)
      .join(', ')}: ${folder}`,
  ]
}
