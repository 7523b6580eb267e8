/** The options and examples of `sluice bench`. */

import { collect, jsonOption, type ProgramBuilder } from './builder.ts'

export function addBench({ program, context, sub, runs }: ProgramBuilder): void {
  sub(
    program,
    'bench <url>',
    'measure how many calls a second a server handles',
    `sluice bench http://127.0.0.1:3000/mcp --tool shout --args '{"text":"hi"}'`,
  )
    .option('--tool <name>', 'the tool to call (default: tools/list)')
    .option('--args <json>', 'the arguments of the tool')
    .option('--connections <n>', 'concurrent connections', '16')
    .option('--seconds <n>', 'duration', '5')
    .option('-t, --token <token>', 'a key or token')
    .option('-H, --header <line>', 'a request header, as "Name: value"; repeatable', collect)
    .addOption(jsonOption)
    .action(runs(async (url: string, options) => (await import('../commands/bench.ts')).bench(context, url, options)))
}
