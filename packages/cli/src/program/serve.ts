/** The options and examples of `sluice serve`. */

import { configOption, dataOption, type ProgramBuilder, portOption } from './builder.ts'

export function addServe({ program, context, sub, serves }: ProgramBuilder): void {
  sub(
    program,
    'serve <target>',
    'run one server: a module, a server of the configuration, or knowledge, memory, fitness, lisp, routes',
    'sluice serve memory --stdio',
    'sluice serve ./server.ts --http --watch',
  )
    .option('--stdio', 'serve on stdin and stdout, for clients that start the server')
    .option('--http', 'serve HTTP on a port')
    .option('--ws', 'serve HTTP and WebSocket on a port')
    .option('-w, --watch', 'reload the module when it changes; clients stay connected')
    .addOption(portOption)
    .addOption(dataOption)
    .addOption(configOption)
    .option('--console-port <port>', 'the port of the console, which runs if a tool needs approvals')
    .action(
      serves(async (target: string, options) => (await import('../commands/serve.ts')).serve(context, target, options)),
    )
}
