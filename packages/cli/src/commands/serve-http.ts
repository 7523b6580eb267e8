/** Serves one opened server on a port. It is separate from `serve-one.ts`, so that a server on stdio does not load it. */

import { clientConfigs, keyPlaceholder } from '../host/client-configs.ts'
import type { Host } from '../host/host.ts'
import { identitiesIn, owner } from '../host/identities.ts'
import { explainListenError, runServers } from '../host/run.ts'
import { styled, type Terminal } from '../output.ts'
import type { CommandContext } from './context.ts'
import type { OneServer } from './serve-one.ts'
import { drainOnSignal } from './wait-for-signal.ts'

export async function overHttp(
  context: CommandContext,
  { name, opened, config, folder, describe, watch }: OneServer,
  host: Host,
  closeAll: () => Promise<void>,
): Promise<void> {
  const { terminal } = context
  const at = config.console
  const page =
    at &&
    (await host.console?.listen({ port: at.port, host: at.host }).catch((thrown: unknown) => {
      throw explainListenError(thrown, at.host, at.port, '--console-port')
    }))
  const { serving, servers } = await runServers([{ name, opened }], host, config)
  const about = await describe?.().catch(async (thrown: unknown) => {
    await serving.close()
    await page?.close()
    await closeAll()
    throw thrown
  })
  const url = serving.urls[`/${name}`] ?? ''
  host.show({ clients: clientConfigs({ [name]: url }, keyPlaceholder, { folder, file: undefined, builtIn: [] }) })
  const server = servers[name]
  const stopWatching = server && watch?.start(server)
  terminal.err(`${name} on ${url}`)
  for (const line of about ?? []) terminal.err(line)
  if (config.authenticate?.apiKeys)
    terminal.err(keyLine(terminal, folder, (await identitiesIn(folder, host.opened.store, [owner]))[owner] ?? ''))
  if (page) terminal.err(`Console (the link works once, within 15 minutes):\n${await host.console?.link()}`)
  if (stopWatching)
    terminal.err(styled(terminal, 'dim', `Reloads when ${watch?.module} changes. Press Ctrl-C to stop.`))
  else if (terminal.isTty) terminal.err(styled(terminal, 'dim', 'Press Ctrl-C to stop.'))
  await drainOnSignal(context, serving, config)
  stopWatching?.()
  await page?.close()
}

/** Shows the key to a person only, because logs and scripts keep what they read from a pipe. */
const keyLine = ({ isErrTerminal }: Terminal, folder: string, key: string): string =>
  isErrTerminal ? `Your key: ${key}` : `Your key: in ${folder}/keys.json`
