/** The options and examples of `sluice people`. */

import { InvalidArgumentError, Option } from 'commander'
import { permissions } from '../commands/permissions.ts'
import { collect, type ProgramBuilder, withStoreOptions } from './builder.ts'

/** Checks each word of `--may`, because commander checks choices only of options that are given once. */
function parsePermission(word: string, before?: readonly string[]): readonly string[] {
  if (Object.hasOwn(permissions, word)) return collect(word, before)
  throw new InvalidArgumentError(`Use ${Object.keys(permissions).join(', ')}.`)
}

export function addPeople({ program, context, sub, runs }: ProgramBuilder): void {
  const people = sub(
    program,
    'people',
    'add, list and remove the people who use the console',
    'sluice people add olga --may approve --tenant acme',
    'sluice people list',
  )
  withStoreOptions(
    sub(
      people,
      'add <name>',
      'add a person and print their key; it is shown once',
      'sluice people add olga --may approve --tenant acme',
    ),
  )
    .addOption(
      new Option(
        '--may <what>',
        'what they may do besides reading: approve, keys, audit, call or upstreams; repeatable',
      ).argParser(parsePermission),
    )
    .option('--tenant <id>', 'a tenant that they may see; repeatable (default: all)', collect)
    .option('--days <n>', 'the days until the key expires')
    .action(
      runs(async (name: string, options) => (await import('../commands/people.ts')).peopleAdd(context, name, options)),
    )
  withStoreOptions(sub(people, 'list', 'list the people with what they may do', 'sluice people list')).action(
    runs(async (options) => (await import('../commands/people.ts')).peopleList(context, options)),
  )
  withStoreOptions(
    sub(people, 'remove <name>', 'remove a person and end their sessions', 'sluice people remove olga'),
  ).action(
    runs(async (name: string, options) => (await import('../commands/people.ts')).peopleRemove(context, name, options)),
  )
}
