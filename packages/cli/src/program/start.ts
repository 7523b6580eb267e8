/** The options and examples of `sluice start`. */

import { configOption, dataOption, jsonOption, type ProgramBuilder, portOption } from './builder.ts'

export function addStart({ program, context, sub, serves }: ProgramBuilder): void {
  sub(
    program,
    'start',
    'run the five built-in servers and the console on this machine',
    'sluice start',
    'sluice start --port 4000 --data ~/sluice',
  )
    .addOption(portOption)
    .addOption(dataOption)
    .addOption(configOption)
    .option('--console-port <port>', 'the port of the console')
    .option('--demo', 'create the demo keys alice and bob (default: at a terminal, without a configuration)')
    .option('--no-demo', 'do not create the demo keys')
    .addOption(jsonOption)
    .action(serves(async (options) => (await import('../commands/start.ts')).start(context, options)))
}
