/** The store, for as long as an operator's command needs it. */

import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import type { OpenStore } from '../host/store.ts'
import { openStore } from '../host/store.ts'
import { CommandError } from '../output.ts'
import type { Around } from './command.ts'

export interface OperatingOptions {
  readonly config?: string
  readonly data?: string
  readonly json?: boolean
}

export async function withStore<T>(
  around: Around,
  options: OperatingOptions,
  work: (opened: OpenStore, config: Config) => Promise<T>,
): Promise<T> {
  const { config } = await loadConfig({
    file: options.config,
    cwd: around.cwd,
    env: around.env,
    flags: { data: options.data },
  })
  if (config.store === 'memory')
    throw new CommandError('The store is memory: only the running server has it. Use the console, or store: sqlite.')
  const opened = await openStore(config, around.env)
  try {
    return await work(opened, config)
  } finally {
    await opened.close()
  }
}
