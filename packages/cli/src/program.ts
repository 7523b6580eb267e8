/** Every command with its options and examples. `commands/` implements them. */

import type { OutputConfiguration } from 'commander'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { completion } from './commands/completion.ts'
import type { CommandContext } from './commands/context.ts'
import {
  approvalsDecide,
  approvalsList,
  approvalsRules,
  approvalsShow,
  auditExport,
  auditPrune,
  auditSearch,
  auditVerify,
  bench,
  call,
  card,
  configPrint,
  configSchemaPrint,
  connect,
  consoleLink,
  doctor,
  keysCreate,
  keysList,
  keysRevoke,
  peopleAdd,
  peopleList,
  peopleRemove,
  serve,
  start,
  tenants,
  upstreamsDecide,
  upstreamsDiff,
  upstreamsList,
  upstreamsLogs,
  upstreamsRestart,
  wrap,
} from './commands/lazy.ts'
import { permissions } from './commands/permissions.ts'
import { CommandError, exitCodes, type Terminal, wrapText } from './output.ts'
import { description, version } from './package.ts'

/** Checks each word of `--may`, because commander checks choices only of options that are given once. */
function parsePermission(word: string, before?: readonly string[]): readonly string[] {
  if (Object.hasOwn(permissions, word)) return collect(word, before)
  throw new InvalidArgumentError(`Use ${Object.keys(permissions).join(', ')}.`)
}
const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]
const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`

export function createProgram(context: CommandContext, done: (exitCode: number) => void): Command {
  const { terminal } = context
  const program = new Command('sluice')
    .description(description)
    .version(version)
    .showSuggestionAfterError()
    .showHelpAfterError('(run sluice --help for all commands)')
    .exitOverride()
    .configureOutput(outputOf(terminal))
    .addHelpText(
      'after',
      `${examples('sluice start', 'sluice serve ./server.ts --watch', 'sluice call http://127.0.0.1:3000/routes/mcp')}

Exit codes: 0 success, 1 failure, 2 invalid command line or configuration, 3 problem found by doctor or audit, 130 stopped by Ctrl-C.`,
    )
  /** Runs a server. It ends by itself after Ctrl-C, when the calls in flight are done. */
  const serves =
    <A extends unknown[]>(work: (...args: A) => Promise<number>) =>
    async (...args: A): Promise<void> =>
      done(await work(...args))
  /** Runs a command. It ends soon after Ctrl-C, even if the work still waits. */
  const runs = <A extends unknown[]>(work: (...args: A) => Promise<number>): ((...args: A) => Promise<void>) =>
    serves((...args) => Promise.race([work(...args), exitAfterSignal(context.signal)]))
  const json = new Option('--json', 'print JSON, for programs')
  const config = new Option(
    '-c, --config <file>',
    'the configuration file (default: sluice.config.ts, .json or .yaml in this folder)',
  )
  const data = new Option('--data <folder>', 'the data folder')
  const sub = (parent: Command, usage: string, about: string, ...shown: readonly string[]): Command => {
    const command = parent.command(usage).description(about).exitOverride().configureOutput(outputOf(terminal))
    const path = [...(parent === program ? [] : [parent.name()]), command.name()].join(' ')
    return command
      .showHelpAfterError(`(run sluice ${path} --help for its options)`)
      .addHelpText('after', examples(...shown))
  }

  sub(
    program,
    'start',
    'run the five built-in servers and the console on this machine',
    'sluice start',
    'sluice start --port 4000 --data ~/sluice',
  )
    .addOption(new Option('-p, --port <port>', 'the port to listen on'))
    .addOption(data)
    .addOption(config)
    .option('--console-port <port>', 'the port of the console')
    .option('--no-demo', 'do not create the demo keys alice and bob')
    .addOption(json)
    .action(serves((options) => start(context, options)))

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
    .addOption(new Option('-p, --port <port>', 'the port to listen on'))
    .addOption(data)
    .addOption(config)
    .option('--console-port <port>', 'the port of the console, which runs if a tool needs approvals')
    .action(serves((target: string, options) => serve(context, target, options)))

  sub(
    program,
    'wrap <target...>',
    'put authentication, limits, approvals and audit in front of any MCP server: a command after --, or a URL',
    'sluice wrap -- npx -y @modelcontextprotocol/server-filesystem ~/notes',
    "sluice wrap --http --approve 'write_*' -- npx -y @modelcontextprotocol/server-filesystem ~/notes",
    `sluice wrap https://mcp.example.com/mcp --header 'Authorization: Bearer \${env:EXAMPLE_TOKEN}'`,
  )
    .option('--stdio', 'serve on stdin and stdout, for clients that start the server')
    .option('--http', 'serve HTTP on a port')
    .option('--name <name>', 'the name in the address, in tickets and in the audit log')
    .option('--approve <tool>', 'calls of this tool need an approval; a pattern such as "write_*"; repeatable', collect)
    .option('--deny <tool>', 'hide this tool and refuse its calls; repeatable', collect)
    .option('--trust-hints', 'believe the hints of its tools: those that only read need no approval')
    .option('-e, --env <variable>', 'a variable for the command, as NAME or NAME=value; repeatable', collect)
    .option('-H, --header <line>', 'a header for the URL, as "Name: value"; repeatable', collect)
    .option('--user <account>', 'the account that runs the command; needs root')
    .addOption(new Option('-p, --port <port>', 'the port to listen on'))
    .addOption(data)
    .addOption(config)
    .option('--console-port <port>', 'the port of the console')
    .action(serves((target: string[], options) => wrap(context, target, options)))

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
    .addOption(data)
    .addOption(config)
    .action(serves((target: string, options) => connect(context, target, options)))

  const upstreams = sub(
    program,
    'upstreams',
    'show, restart and review the servers behind the running Sluice',
    'sluice upstreams list',
    'sluice upstreams logs files',
  )
  const ofRunning = (command: Command): Command => command.addOption(data).addOption(config)
  ofRunning(sub(upstreams, 'list', 'list the upstreams with their state', 'sluice upstreams list --json'))
    .addOption(json)
    .action(runs((options) => upstreamsList(context, options)))
  ofRunning(
    sub(
      upstreams,
      'restart <name>',
      'end its processes and connections, and start it again',
      'sluice upstreams restart files',
    ),
  ).action(runs((name: string, options) => upstreamsRestart(context, name, options)))
  ofRunning(sub(upstreams, 'logs <name>', 'print what its processes wrote to stderr', 'sluice upstreams logs files'))
    .addOption(json)
    .action(runs((name: string, options) => upstreamsLogs(context, name, options)))
  ofRunning(
    sub(upstreams, 'diff <name>', 'show its new and changed definitions, which wait', 'sluice upstreams diff files'),
  )
    .addOption(json)
    .action(runs((name: string, options) => upstreamsDiff(context, name, options)))
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
        runs((name: string, definitions: readonly string[], options) =>
          upstreamsDecide(context, action, name, definitions, options),
        ),
      )

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
    .addOption(json)
    .action(
      runs((target: string, tool: string | undefined, args: string[], options) =>
        call(context, target, tool, args, options),
      ),
    )

  sub(
    program,
    'doctor [url]',
    'check this machine and its configuration, or a server',
    'sluice doctor',
    'sluice doctor https://mcp.example.com/mcp --token sk_…',
  )
    .addOption(data)
    .option('-t, --token <token>', 'a key or token (default: SLUICE_TOKEN)')
    .option('-H, --header <line>', 'a request header, as "Name: value"; repeatable', collect)
    .addOption(config)
    .addOption(json)
    .action(runs((url: string | undefined, options) => doctor(context, url, options)))

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
    .addOption(json)
    .action(runs((url: string, options) => bench(context, url, options)))

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
    .addOption(json)
    .action(runs((target: string, options) => card(context, target, options)))

  const keys = sub(
    program,
    'keys',
    'create, list and revoke API keys for agents',
    'sluice keys create nightly --tenant acme',
    'sluice keys list',
  )
  const withStoreOptions = (command: Command): Command => command.addOption(data).addOption(config).addOption(json)
  withStoreOptions(
    sub(keys, 'create <name>', 'create a key; it is shown once', 'sluice keys create nightly --tenant acme --days 90'),
  )
    .option('--tenant <id>', 'a tenant whose data it opens; repeatable', collect)
    .option('--scope <scope>', 'a scope of the key; repeatable', collect)
    .option('--label <text>', 'a label for people')
    .option('--days <n>', 'the days until it expires')
    .action(runs((name: string, options) => keysCreate(context, name, options)))
  withStoreOptions(sub(keys, 'list', 'list all keys with their last use', 'sluice keys list --json')).action(
    runs((options) => keysList(context, options)),
  )
  withStoreOptions(sub(keys, 'revoke <id>', 'revoke a key', 'sluice keys revoke 574c5ff9cf3aa2ec')).action(
    runs((id: string, options) => keysRevoke(context, id, options)),
  )

  const consoleCommand = sub(program, 'console', 'sign in to the web console', 'sluice console link')
  withStoreOptions(
    sub(consoleCommand, 'link', 'print a new sign-in link; it works once, within 15 minutes', 'sluice console link'),
  ).action(runs((options) => consoleLink(context, options)))

  const people = sub(
    program,
    'people',
    'add, list and remove the people who use the console',
    'sluice people add olga --may approve --tenant acme',
    'sluice people list',
  )
  withStoreOptions(
    sub(
      people,
      'add <name>',
      'add a person and print their key; it is shown once',
      'sluice people add olga --may approve --tenant acme',
    ),
  )
    .addOption(
      new Option(
        '--may <what>',
        'what they may do besides reading: approve, keys, audit, call or upstreams; repeatable',
      ).argParser(parsePermission),
    )
    .option('--tenant <id>', 'a tenant that they may see; repeatable (default: all)', collect)
    .option('--days <n>', 'the days until the key expires')
    .action(runs((name: string, options) => peopleAdd(context, name, options)))
  withStoreOptions(sub(people, 'list', 'list the people with what they may do', 'sluice people list')).action(
    runs((options) => peopleList(context, options)),
  )
  withStoreOptions(
    sub(people, 'remove <name>', 'remove a person and end their sessions', 'sluice people remove olga'),
  ).action(runs((name: string, options) => peopleRemove(context, name, options)))

  const approvals = sub(
    program,
    'approvals',
    'list and decide the calls that need an approval',
    'sluice approvals list',
    'sluice approvals show <id>',
    'sluice approvals approve <id>',
  )
  withStoreOptions(sub(approvals, 'list', 'list tickets, pending ones first', 'sluice approvals list --status pending'))
    .addOption(
      new Option('--status <status>', 'only tickets with this status').choices([
        'pending',
        'approved',
        'denied',
        'expired',
        'running',
        'done',
        'failed',
        'in doubt',
        'void',
      ]),
    )
    .option('--tenant <id>', 'only tickets of this tenant')
    .action(runs((options) => approvalsList(context, options)))
  withStoreOptions(sub(approvals, 'show <id>', 'show exactly what would run', 'sluice approvals show <id>')).action(
    runs((id: string, options) => approvalsShow(context, id, options)),
  )
  for (const [name, approved] of [
    ['approve', true],
    ['deny', false],
  ] as const)
    withStoreOptions(
      sub(
        approvals,
        `${name} <id>`,
        approved ? 'approve the call; it may run once' : 'deny the call',
        `sluice approvals ${name} <id> --note "${approved ? 'Go ahead' : 'Not on a Friday'}"`,
      ),
    )
      .option('--note <text>', 'a note; the caller can read it')
      .option('--as <name>', 'your name, if several people share this account')
      .action(runs((id: string, options) => approvalsDecide(context, id, approved, options)))
  withStoreOptions(sub(approvals, 'rules', 'list the approval rules in their order', 'sluice approvals rules')).action(
    runs((options) => approvalsRules(context, options)),
  )

  const audit = sub(
    program,
    'audit',
    'search, verify, export and prune the audit log',
    'sluice audit search --tenant acme',
    'sluice audit verify',
  )
  const ofTenant = (command: Command): Command =>
    withStoreOptions(command).requiredOption('--tenant <id>', 'the tenant; sluice tenants lists them')
  withStoreOptions(
    sub(
      audit,
      'search [text]',
      'search records, newest first',
      'sluice audit search transfer',
      'sluice audit search transfer --tenant acme --limit 20',
    ),
  )
    .option('--tenant <id>', 'only this tenant')
    .option('--limit <n>', 'the maximum number of records', '50')
    .action(runs((text: string | undefined, options) => auditSearch(context, text, options)))
  withStoreOptions(
    sub(audit, 'verify', 'verify the hash chain; exit code 3 if a record was changed', 'sluice audit verify'),
  )
    .option('--tenant <id>', 'only this tenant')
    .action(runs((options) => auditVerify(context, options)))
  ofTenant(
    sub(audit, 'export', 'print one record per line, oldest first', 'sluice audit export --tenant acme > audit.ndjson'),
  ).action(runs((options) => auditExport(context, options)))
  withStoreOptions(
    sub(
      audit,
      'prune',
      'remove the oldest records and sign a checkpoint; exit code 3 if a record was changed',
      'sluice audit prune --tenant acme --days 90',
      'sluice audit prune',
    ),
  )
    .option('--tenant <id>', 'only this tenant')
    .option('--days <n>', 'the days to keep (default: audit.retention)')
    .option('--megabytes <n>', 'the megabytes to keep (default: audit.retention)')
    .option('--force', 'prune changed records too; every later verify reports it')
    .action(runs((options) => auditPrune(context, options)))
  withStoreOptions(sub(program, 'tenants', 'list tenants with their last call', 'sluice tenants --json')).action(
    runs((options) => tenants(context, options)),
  )

  const configuration = sub(program, 'config', 'print the configuration or its schema', 'sluice config print')
  sub(
    configuration,
    'print',
    'print the effective configuration and the origin of each value',
    'sluice config print --config ./sluice.config.yaml',
  )
    .addOption(config)
    .addOption(json)
    .action(runs((options) => configPrint(context, options)))
  sub(
    configuration,
    'schema',
    'print the JSON Schema of the configuration',
    'sluice config schema > sluice.schema.json',
  ).action(runs(() => configSchemaPrint(context)))

  sub(
    program,
    'completion <shell>',
    'print the completion script for bash, zsh or fish',
    'source <(sluice completion bash)',
    'sluice completion fish > ~/.config/fish/completions/sluice.fish',
  ).action(runs((shell: string) => completion(context, program, shell)))
  return program
}

/** The time that a command has to finish after Ctrl-C. */
const exitDelayMs = 1_000

const exitAfterSignal = (signal: AbortSignal): Promise<number> =>
  new Promise((resolve) => {
    const end = (): void => {
      setTimeout(resolve, exitDelayMs, 130)
    }
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })

const outputOf = (terminal: Terminal): OutputConfiguration => ({
  writeOut: (text) => terminal.out(text.replace(/\n$/, '')),
  writeErr: (text) => terminal.err(text.replace(/\n$/, '')),
})

/** Runs the command and returns the exit code. Never throws. */
export async function run(argv: readonly string[], context: CommandContext): Promise<number> {
  let exitCode: number = exitCodes.ok
  try {
    await createProgram(context, (code) => {
      exitCode = code
    }).parseAsync([...argv], { from: 'user' })
    return exitCode
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? exitCodes.ok : exitCodes.usage
    if (context.signal.aborted) return 130
    context.terminal.err(
      wrapText(context.terminal, thrown instanceof CommandError ? thrown.message : messageFor(thrown, context.env)),
    )
    return thrown instanceof CommandError ? thrown.exitCode : exitCodes.failed
  }
}

/** Returns the message of an error, which the library writes for people. `SLUICE_DEBUG` adds the stack. */
const messageFor = (thrown: unknown, env: CommandContext['env']): string => {
  if (!(thrown instanceof Error)) return String(thrown)
  return env['SLUICE_DEBUG'] ? (thrown.stack ?? thrown.message) : thrown.message
}
