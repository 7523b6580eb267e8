/** The options and examples of `sluice rules`. */

import { collect, configOption, dataOption, jsonOption, type ProgramBuilder } from './builder.ts'

export function addRules({ program, context, sub, runs }: ProgramBuilder): void {
  const rules = sub(
    program,
    'rules',
    'explain the rules for the tools of upstreams',
    'sluice rules test files/write_file path=/srv/notes/a.md --as ann',
  )
  sub(
    rules,
    'test <tool> [arguments...]',
    'print which rules apply to a call and what would happen; nothing is called',
    'sluice rules test read_file path=/srv/notes/a.md --as ann',
    'sluice rules test files/write_file --as 3f9a1c2b7d4e5f60 --profile reader',
  )
    .addOption(dataOption)
    .addOption(configOption)
    .option('--as <caller>', 'the subject or the id of an API key (default: you)')
    .option('--tenant <id>', 'the tenant, for a caller with several or without a key')
    .option('--scope <scope>', 'a scope of a caller without a key; repeatable', collect)
    .option('--profile <name>', 'the endpoint of this profile (default: the endpoint of the upstream)')
    .addOption(jsonOption)
    .action(
      runs(async (tool: string, pairs: string[], options) =>
        (await import('../commands/rules.ts')).rulesTest(context, tool, pairs, options),
      ),
    )
}
