/** The options and examples of `sluice connect`. */

import { collect, configOption, dataOption, type ProgramBuilder } from './builder.ts'

export function addConnect({ program, context, sub, serves }: ProgramBuilder): void {
  sub(
    program,
    'connect <target>',
    'serve on stdin and stdout what a server serves over HTTP, for clients that only start commands',
    'sluice connect http://127.0.0.1:3000/files/mcp',
    'sluice connect files --data ~/sluice',
    'sluice connect https://mcp.example.com/mcp --token sk_…',
  )
    .option('-t, --token <token>', 'a key or token (default: SLUICE_TOKEN, or your key in the data folder)')
    .option('-H, --header <line>', 'a request header, as "Name: value"; repeatable', collect)
    .option('--no-start', 'do not start Sluice if it does not run on this machine')
    .addOption(dataOption)
    .addOption(configOption)
    .action(
      serves(async (target: string, options) =>
        (await import('../commands/connect.ts')).connect(context, target, options),
      ),
    )
}
