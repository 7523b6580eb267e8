/** The store, for as long as an operator's command needs it. */

import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import type { OpenStore } from '../host/store.ts'
import { openStore } from '../host/store.ts'
import { CommandError } from '../output.ts'
import type { CommandContext } from './context.ts'

export interface StoreCommandOptions {
  readonly config?: string
  readonly data?: string
  readonly json?: boolean
}

export async function withStore<T>(
  context: CommandContext,
  options: StoreCommandOptions,
  work: (opened: OpenStore, config: Config) => Promise<T>,
): Promise<T> {
  const { config } = await loadConfig({
    file: options.config,
    cwd: context.cwd,
    env: context.env,
    flags: { data: options.data },
  })
  if (config.store === 'memory')
    throw new CommandError('The store is memory: only the running server has it. Use the console, or store: sqlite.')
  const opened = await openStore(config, context.env)
  try {
    return await work(opened, config)
  } finally {
    await opened.close()
  }
}
