/** The options and examples of `sluice import`, `protect` and `unprotect`. */

import { type Command, Option } from 'commander'
import type { ProgramBuilder } from './builder.ts'

const yes = new Option('-y, --yes', 'do it without a question, for scripts')
const target = new Option(
  '-c, --config <file>',
  'the configuration to write (default: the one in this folder, or ~/.sluice/sluice.config.yaml)',
)
const importing = (command: Command): Command =>
  command
    .option('--trust-hints', 'believe the hints of their tools: those that only read need no approval')
    .option('--overwrite', 'replace servers of the configuration that have the same name and differ')
    .addOption(target)
    .addOption(yes)

export function addProtect({ program, context, sub, runs }: ProgramBuilder): void {
  importing(
    sub(
      program,
      'import [files...]',
      'take the servers of MCP clients into the configuration; secrets move to private files',
      'sluice import',
      'sluice import .vscode/mcp.json --config sluice.config.yaml',
    ),
  ).action(
    runs(async (files: string[], options) =>
      (await import('../commands/import.ts')).importServers(context, files, options),
    ),
  )
  importing(
    sub(
      program,
      'protect <client> [file]',
      'let the servers of an MCP client go through Sluice, and keep a backup of its file',
      'sluice protect claude-desktop',
      'sluice protect claude-code --trust-hints',
      'sluice protect cursor .cursor/mcp.json',
    ),
  ).action(
    runs(async (client: string, file: string | undefined, options) =>
      (await import('../commands/protect.ts')).protect(context, client, file, options),
    ),
  )
  sub(
    program,
    'unprotect <client> [file]',
    'put the file of an MCP client back as it was before protect',
    'sluice unprotect claude-desktop',
  )
    .addOption(target)
    .addOption(yes)
    .action(
      runs(async (client: string, file: string | undefined, options) =>
        (await import('../commands/protect.ts')).unprotect(context, client, file, options),
      ),
    )
}
