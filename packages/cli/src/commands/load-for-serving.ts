/** The configuration of the commands that serve, with the flags that they share. */

import type { LoadedConfig } from '../config/load.ts'
import { loadConfig } from '../config/load.ts'
import { tightenPermissions } from '../host/permissions.ts'
import { dataFolder } from '../host/store.ts'
import { numberOf } from '../output.ts'
import type { CommandContext } from './context.ts'

export interface ServingFlags {
  readonly config?: string
  readonly data?: string
  readonly port?: string
  readonly consolePort?: string
  readonly ws?: boolean
}

/** Loads the configuration, and closes its data folder to other users of this machine. */
export async function loadForServing(
  { terminal, env, cwd }: CommandContext,
  { config: file, data, port, consolePort, ws }: ServingFlags,
): Promise<LoadedConfig & { readonly folder: string }> {
  const flags = {
    port: numberOf('--port', port),
    'console.port': numberOf('--console-port', consolePort),
    data,
    websocket: ws,
  }
  const loaded = await loadConfig({ file, cwd, env, flags })
  const folder = dataFolder(loaded.config.data)
  for (const each of tightenPermissions(folder)) terminal.err(each)
  return { ...loaded, folder }
}
