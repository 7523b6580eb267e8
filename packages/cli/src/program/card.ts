/** The options and examples of `sluice card`. */

import { Option } from 'commander'
import { jsonOption, type ProgramBuilder } from './builder.ts'

export function addCard({ program, context, sub, runs }: ProgramBuilder): void {
  sub(
    program,
    'card <target>',
    'print the server card, server.json and AI catalog entry of a module or a built-in server',
    'sluice card ./server.ts --name com.example/notes --url https://mcp.example.com/mcp',
    'sluice card ./server.ts --only server.json > server.json',
  )
    .option('--name <name>', 'the name in reverse DNS (default: mcpName of package.json)')
    .option('--url <url>', 'the address of the endpoint')
    .option('--description <text>', 'a description of at most 100 characters (default: that of the definition)')
    .addOption(new Option('--only <document>', 'print one document').choices(['card', 'server.json', 'catalog']))
    .addOption(jsonOption)
    .action(
      runs(async (target: string, options) => (await import('../commands/card.ts')).card(context, target, options)),
    )
}
