/** The options and examples of `sluice wrap`. */

import { collect, configOption, dataOption, type ProgramBuilder, portOption } from './builder.ts'

export function addWrap({ program, context, sub, serves }: ProgramBuilder): void {
  sub(
    program,
    'wrap <target...>',
    'put authentication, limits, approvals and audit in front of any MCP server: a command after --, or a URL',
    'sluice wrap -- npx -y @modelcontextprotocol/server-filesystem ~/notes',
    "sluice wrap --http --approve 'write_*' -- npx -y @modelcontextprotocol/server-filesystem ~/notes",
    `sluice wrap https://mcp.example.com/mcp --header 'Authorization: Bearer \${env:EXAMPLE_TOKEN}'`,
  )
    .showHelpAfterError('(the command and its options go after --; run sluice wrap --help for the options of wrap)')
    .option('--stdio', 'serve on stdin and stdout, for clients that start the server')
    .option('--http', 'serve HTTP on a port')
    .option('--name <name>', 'the name in the address, in tickets and in the audit log')
    .option('--approve <tool>', 'calls of this tool need an approval; a pattern such as "write_*"; repeatable', collect)
    .option('--deny <tool>', 'hide this tool and refuse its calls; repeatable', collect)
    .option('--trust-hints', 'believe the hints of its tools: those that only read need no approval')
    .option('-e, --env <variable>', 'a variable for the command, as NAME or NAME=value; repeatable', collect)
    .option('-H, --header <line>', 'a header for the URL, as "Name: value"; repeatable', collect)
    .option('--user <account>', 'the account that runs the command; needs root')
    .addOption(portOption)
    .addOption(dataOption)
    .addOption(configOption)
    .option('--console-port <port>', 'the port of the console')
    .action(
      serves(async (target: string[], options) => (await import('../commands/wrap.ts')).wrap(context, target, options)),
    )
}
