/** The options and examples of `sluice call`. */

import { Option } from 'commander'
import { collect, jsonOption, type ProgramBuilder } from './builder.ts'

export function addCall({ program, context, sub, runs }: ProgramBuilder): void {
  sub(
    program,
    'call <target> [tool] [arguments...]',
    'try an MCP server: list its tools, call one, read its resources and prompts',
    'sluice call http://127.0.0.1:3000/mcp',
    'sluice call http://127.0.0.1:3000/mcp shout text=hi',
    'sluice call "npx -y @sluice/routes" calculate_route origin=Hanoi destination=Hue',
    'sluice call https://mcp.example.com/mcp --repl',
  )
    .option('--resources', 'list its resources')
    .option('--read <uri>', 'read a resource')
    .option('--prompts', 'list its prompts')
    .option('--prompt <name>', 'get a prompt, with the arguments that follow')
    .option('--complete <ref>', 'complete the last argument of a prompt or a resource template')
    .option('--repl', 'make many calls on one connection')
    .option('--sign-in', 'sign in if the server requires it (default at a terminal)')
    .option('-t, --token <token>', 'a key or token (default: SLUICE_TOKEN)')
    .option('-H, --header <line>', 'a request header, as "Name: value"; repeatable', collect)
    .option('-e, --env <variable>', 'a variable for a started command, as NAME or NAME=value; repeatable', collect)
    .addOption(
      new Option('--era <era>', 'the protocol era: modern is 2026-07-28, legacy is earlier').choices([
        'modern',
        'legacy',
      ]),
    )
    .addOption(jsonOption)
    .action(
      runs(async (target: string, tool: string | undefined, args: string[], options) =>
        (await import('../commands/call.ts')).call(context, target, tool, args, options),
      ),
    )
}
