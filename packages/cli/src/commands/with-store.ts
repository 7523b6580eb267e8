/** Opens the store for the duration of an operator's command. */

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
    fallBackToHome: true,
  })
  if (config.store === 'memory')
    throw new CommandError(
      'The store is in the memory of the running server. Use the console, or set "store" to "sqlite".',
    )
  const opened = await openStore(config, context.env)
  try {
    return await work(opened, config)
  } finally {
    await opened.close()
  }
}
