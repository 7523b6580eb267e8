/** The options and examples of `sluice upstreams`. */

import type { Command } from 'commander'
import { collect, configOption, dataOption, jsonOption, type ProgramBuilder } from './builder.ts'

export function addUpstreams({ program, context, sub, runs }: ProgramBuilder): void {
  const upstreams = sub(
    program,
    'upstreams',
    'show, restart and review the servers behind the running Sluice',
    'sluice upstreams list',
    'sluice upstreams logs files',
  )
  const ofRunning = (command: Command): Command => command.addOption(dataOption).addOption(configOption)
  ofRunning(sub(upstreams, 'list', 'list the upstreams with their state', 'sluice upstreams list --json'))
    .addOption(jsonOption)
    .action(runs(async (options) => (await import('../commands/upstreams.ts')).upstreamsList(context, options)))
  ofRunning(
    sub(
      upstreams,
      'restart <name>',
      'end its processes and connections, and start it again',
      'sluice upstreams restart files',
    ),
  ).action(
    runs(async (name: string, options) =>
      (await import('../commands/upstreams.ts')).upstreamsRestart(context, name, options),
    ),
  )
  ofRunning(sub(upstreams, 'logs <name>', 'print what its processes wrote to stderr', 'sluice upstreams logs files'))
    .addOption(jsonOption)
    .action(
      runs(async (name: string, options) =>
        (await import('../commands/upstreams.ts')).upstreamsLogs(context, name, options),
      ),
    )
  ofRunning(
    sub(upstreams, 'diff <name>', 'show its new and changed definitions, which wait', 'sluice upstreams diff files'),
  )
    .addOption(jsonOption)
    .action(
      runs(async (name: string, options) =>
        (await import('../commands/upstreams-review.ts')).upstreamsDiff(context, name, options),
      ),
    )
  for (const [action, does] of [
    ['accept', 'serve new and changed definitions, in all processes'],
    ['reject', 'do not serve definitions, also accepted ones'],
  ] as const)
    ofRunning(
      sub(
        upstreams,
        `${action} <name> [definitions...]`,
        does,
        `sluice upstreams ${action} files tool:search --hash 3f…`,
      ),
    )
      .requiredOption('--hash <hash>', 'the hash that "diff" showed, of all or of one definition; repeatable', collect)
      .option('--as <name>', 'your name, for the audit')
      .action(
        runs(async (name: string, definitions: readonly string[], options) =>
          (await import('../commands/upstreams-review.ts')).upstreamsDecide(
            context,
            action,
            name,
            definitions,
            options,
          ),
        ),
      )
}
