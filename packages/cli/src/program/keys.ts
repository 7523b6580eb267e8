/** The options and examples of `sluice keys`. */

import { collect, type ProgramBuilder, withStoreOptions } from './builder.ts'

export function addKeys({ program, context, sub, runs }: ProgramBuilder): void {
  const keys = sub(
    program,
    'keys',
    'create, list and revoke API keys for agents',
    'sluice keys create nightly --tenant acme',
    'sluice keys list',
  )
  withStoreOptions(
    sub(keys, 'create <name>', 'create a key; it is shown once', 'sluice keys create nightly --tenant acme --days 90'),
  )
    .option('--tenant <id>', 'a tenant whose data it opens; repeatable', collect)
    .option('--scope <scope>', 'a scope of the key; repeatable', collect)
    .option('--label <text>', 'a label for people')
    .option('--days <n>', 'the days until it expires')
    .action(
      runs(async (name: string, options) => (await import('../commands/keys.ts')).keysCreate(context, name, options)),
    )
  withStoreOptions(sub(keys, 'list', 'list all keys with their last use', 'sluice keys list --json')).action(
    runs(async (options) => (await import('../commands/keys.ts')).keysList(context, options)),
  )
  withStoreOptions(sub(keys, 'revoke <id>', 'revoke a key', 'sluice keys revoke 574c5ff9cf3aa2ec')).action(
    runs(async (id: string, options) => (await import('../commands/keys.ts')).keysRevoke(context, id, options)),
  )
}
