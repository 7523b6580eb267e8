/** Every command with its options and examples. What they do stands in `commands/`. */

import type { OutputConfiguration } from 'commander'
import { Command, CommanderError, Option } from 'commander'
import { approvalsDecide, approvalsList, approvalsRules, approvalsShow } from './commands/approvals.ts'
import { auditExport, auditPrune, auditSearch, auditVerify, tenants } from './commands/audit.ts'
import { bench } from './commands/bench.ts'
import { call } from './commands/call.ts'
import { completion } from './commands/completion.ts'
import { configPrint, configSchemaPrint } from './commands/config.ts'
import type { CommandContext } from './commands/context.ts'
import { doctor } from './commands/doctor.ts'
import { keysCreate, keysList, keysRevoke } from './commands/keys.ts'
import { serve } from './commands/serve.ts'
import { start } from './commands/start.ts'
import { CommandError, exitCodes, type Terminal, wrapText } from './output.ts'
import { description, version } from './package.ts'

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]
const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`

export function createProgram(context: CommandContext, done: (exitCode: number) => void): Command {
  const { terminal } = context
  const program = new Command('sluice')
    .description(description)
    .version(version)
    .showSuggestionAfterError()
    .showHelpAfterError('(sluice --help shows what there is)')
    .exitOverride()
    .configureOutput(outputOf(terminal))
    .addHelpText(
      'after',
      `${examples('sluice start', 'sluice serve ./server.ts --watch', 'sluice call http://127.0.0.1:3000/routes/mcp')}

Exit codes: 0 done, 1 failed, 2 the command line or the configuration is wrong, 3 something was found, 130 stopped by Ctrl-C.`,
    )
  /** For what serves: it ends by itself after Ctrl-C, when the calls under way are done. */
  const serves =
    <A extends unknown[]>(work: (...args: A) => Promise<number>) =>
    async (...args: A): Promise<void> =>
      done(await work(...args))
  /** Ends with what the work returns, and soon after Ctrl-C, whatever it waits for. */
  const runs = <A extends unknown[]>(work: (...args: A) => Promise<number>): ((...args: A) => Promise<void>) =>
    serves((...args) => Promise.race([work(...args), exitAfterSignal(context.signal)]))
  const json = new Option('--json', 'print JSON, for programs')
  const config = new Option(
    '-c, --config <file>',
    'the configuration (sluice.config.ts, .json or .yaml here unless said)',
  )
  const data = new Option('--data <folder>', 'the folder for everything that is kept')
  const sub = (parent: Command, usage: string, about: string, ...shown: readonly string[]): Command => {
    const command = parent.command(usage).description(about).exitOverride().configureOutput(outputOf(terminal))
    const path = [...(parent === program ? [] : [parent.name()]), command.name()].join(' ')
    return command
      .showHelpAfterError(`(sluice ${path} --help shows what there is)`)
      .addHelpText('after', examples(...shown))
  }

  sub(
    program,
    'start',
    'run the five servers and the console on this machine',
    'sluice start',
    'sluice start --port 4000 --data ~/sluice',
  )
    .addOption(new Option('-p, --port <port>', 'the port to listen on'))
    .addOption(data)
    .addOption(config)
    .option('--console-port <port>', 'the console’s port')
    .option('--no-demo', 'without the demo identities alice and bob')
    .addOption(json)
    .action(serves((options) => start(context, options)))

  sub(
    program,
    'serve <target>',
    'run one server: a module that exports one, or knowledge, memory, fitness, lisp, routes',
    'sluice serve memory --stdio',
    'sluice serve ./server.ts --http --watch',
  )
    .option('--stdio', 'speak on stdin and stdout (what clients start)')
    .option('--http', 'listen on a port')
    .option('--ws', 'listen on a port, WebSocket too')
    .option('-w, --watch', 'reload the module when it changes; clients stay connected')
    .addOption(new Option('-p, --port <port>', 'the port to listen on'))
    .addOption(data)
    .addOption(config)
    .option('--console-port <port>', 'the console’s port, where there is something to approve')
    .action(serves((target: string, options) => serve(context, target, options)))

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
    .option('--repl', 'many calls on one connection')
    .option('--sign-in', 'sign in where the server asks for it; at a terminal this is the default')
    .option('-t, --token <token>', 'a key or token (SLUICE_TOKEN by default)')
    .option('-H, --header <line>', 'a header, as "Name: value"', collect)
    .option('-e, --env <variable>', 'for a command: a variable it sees, as NAME or NAME=value', collect)
    .addOption(new Option('--era <era>', 'how to speak').choices(['modern', 'legacy']))
    .addOption(json)
    .action(
      runs((target: string, tool: string | undefined, args: string[], options) =>
        call(context, target, tool, args, options),
      ),
    )

  sub(
    program,
    'doctor [url]',
    'look at this machine and its configuration, or at a server',
    'sluice doctor',
    'sluice doctor https://mcp.example.com/mcp --token sk_…',
  )
    .addOption(data)
    .option('-t, --token <token>', 'a key or token (SLUICE_TOKEN unless said)')
    .option('-H, --header <line>', 'a header, as "Name: value"', collect)
    .addOption(config)
    .addOption(json)
    .action(runs((url: string | undefined, options) => doctor(context, url, options)))

  sub(
    program,
    'bench <url>',
    'how many calls a second a server takes',
    `sluice bench http://127.0.0.1:3000/mcp --tool shout --args '{"text":"hi"}'`,
  )
    .option('--tool <name>', 'the tool to call; tools/list unless said')
    .option('--args <json>', 'its arguments')
    .option('--connections <n>', 'at once', '16')
    .option('--seconds <n>', 'how long', '5')
    .option('-t, --token <token>', 'a key or token')
    .option('-H, --header <line>', 'a header, as "Name: value"', collect)
    .addOption(json)
    .action(runs((url: string, options) => bench(context, url, options)))

  const keys = sub(
    program,
    'keys',
    'API keys for agents',
    'sluice keys create nightly --tenant acme',
    'sluice keys list',
  )
  const operating = (command: Command): Command => command.addOption(data).addOption(config).addOption(json)
  operating(
    sub(keys, 'create <name>', 'make a key; it is shown once', 'sluice keys create nightly --tenant acme --days 90'),
  )
    .option('--tenant <id>', 'whose data it opens; may be repeated', collect)
    .option('--scope <scope>', 'what it may do; may be repeated', collect)
    .option('--label <text>', 'for people')
    .option('--days <n>', 'how long it is good')
    .action(runs((name: string, options) => keysCreate(context, name, options)))
  operating(sub(keys, 'list', 'who has one, and when it was last used', 'sluice keys list --json')).action(
    runs((options) => keysList(context, options)),
  )
  operating(sub(keys, 'revoke <id>', 'end a key', 'sluice keys revoke 574c5ff9cf3aa2ec')).action(
    runs((id: string, options) => keysRevoke(context, id, options)),
  )

  const approvals = sub(
    program,
    'approvals',
    'what agents want to do, and your decision',
    'sluice approvals list',
    'sluice approvals show <id>',
    'sluice approvals approve <id>',
  )
  operating(sub(approvals, 'list', 'pending first', 'sluice approvals list --status pending'))
    .addOption(
      new Option('--status <status>', 'only these').choices([
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
    .option('--tenant <id>', 'only theirs')
    .action(runs((options) => approvalsList(context, options)))
  operating(sub(approvals, 'show <id>', 'exactly what would run', 'sluice approvals show <id>')).action(
    runs((id: string, options) => approvalsShow(context, id, options)),
  )
  for (const [name, approved] of [
    ['approve', true],
    ['deny', false],
  ] as const)
    operating(
      sub(
        approvals,
        `${name} <id>`,
        approved ? 'let it run, once' : 'refuse it',
        `sluice approvals ${name} <id> --note "${approved ? 'Go ahead' : 'Not on a Friday'}"`,
      ),
    )
      .option('--note <text>', 'why; the caller reads it')
      .option('--as <name>', 'who decides, where several people share this account')
      .action(runs((id: string, options) => approvalsDecide(context, id, approved, options)))
  operating(sub(approvals, 'rules', 'the operator’s rules, in their order', 'sluice approvals rules')).action(
    runs((options) => approvalsRules(context, options)),
  )

  const audit = sub(
    program,
    'audit',
    'the record of what was called',
    'sluice audit search --tenant acme',
    'sluice audit verify',
  )
  const ofTenant = (command: Command): Command =>
    operating(command).requiredOption('--tenant <id>', 'whose; sluice tenants lists them')
  ofTenant(sub(audit, 'search [text]', 'newest first', 'sluice audit search transfer --tenant acme --limit 20'))
    .option('--limit <n>', 'at most so many', '50')
    .action(runs((text: string | undefined, options) => auditSearch(context, text, options)))
  operating(sub(audit, 'verify', 'whether it is as it was written; exit code 3 if not', 'sluice audit verify'))
    .option('--tenant <id>', 'only theirs')
    .action(runs((options) => auditVerify(context, options)))
  ofTenant(
    sub(audit, 'export', 'one record a line, oldest first', 'sluice audit export --tenant acme > audit.ndjson'),
  ).action(runs((options) => auditExport(context, options)))
  operating(
    sub(
      audit,
      'prune',
      'remove the oldest records and sign where the rest begins; exit code 3 if they are not as they were written',
      'sluice audit prune --tenant acme --days 90',
      'sluice audit prune',
    ),
  )
    .option('--tenant <id>', 'only theirs')
    .option('--days <n>', 'keep so many; by default audit.retention')
    .option('--megabytes <n>', 'keep so much; by default audit.retention')
    .option('--force', 'also what was changed; every later verify says so')
    .action(runs((options) => auditPrune(context, options)))
  operating(sub(program, 'tenants', 'who has called', 'sluice tenants --json')).action(
    runs((options) => tenants(context, options)),
  )

  const configuration = sub(program, 'config', 'the configuration', 'sluice config print')
  sub(
    configuration,
    'print',
    'what is in force, and where it came from',
    'sluice config print --config ./sluice.config.yaml',
  )
    .addOption(config)
    .addOption(json)
    .action(runs((options) => configPrint(context, options)))
  sub(configuration, 'schema', 'its JSON Schema', 'sluice config schema > sluice.schema.json').action(
    runs(() => configSchemaPrint(context)),
  )

  sub(
    program,
    'completion <shell>',
    'completion for bash, zsh or fish',
    'source <(sluice completion bash)',
    'sluice completion fish > ~/.config/fish/completions/sluice.fish',
  ).action(runs((shell: string) => completion(context, program, shell)))
  return program
}

/** What a command does after Ctrl-C, such as saying how far it came, is waited for so long. */
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

/** The exit code; never throws. */
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

/** Messages of the library are written for people; a stack is for whoever asks for it. */
const messageFor = (thrown: unknown, env: CommandContext['env']): string => {
  if (!(thrown instanceof Error)) return String(thrown)
  return env['SLUICE_DEBUG'] ? (thrown.stack ?? thrown.message) : thrown.message
}
