/**
 * The program: all commands, and the exit code of a run. A file in `program/` declares the options of one command, and
 * the file of the same name in `commands/` implements it.
 */

import { Command, CommanderError, Help } from 'commander'
import type { CommandContext } from './commands/context.ts'
import { CommandError, exitCodes, wrapText } from './output.ts'
import { description, version } from './package.ts'
import { addApprovals } from './program/approvals.ts'
import { addAudit } from './program/audit.ts'
import { addBench } from './program/bench.ts'
import { createBuilder, examples, outputOf, type ProgramBuilder } from './program/builder.ts'
import { addCall } from './program/call.ts'
import { addCard } from './program/card.ts'
import { addCompletion } from './program/completion.ts'
import { addConfig } from './program/config.ts'
import { addConnect } from './program/connect.ts'
import { addConsole } from './program/console.ts'
import { addDoctor } from './program/doctor.ts'
import { addKeys } from './program/keys.ts'
import { addPeople } from './program/people.ts'
import { addProtect } from './program/protect.ts'
import { addRules } from './program/rules.ts'
import { addServe } from './program/serve.ts'
import { addStart } from './program/start.ts'
import { addTenants } from './program/tenants.ts'
import { addUpstreams } from './program/upstreams.ts'
import { addWrap } from './program/wrap.ts'

/** All commands, in the order of the help. */
const commands: readonly ((builder: ProgramBuilder) => void)[] = [
  addStart,
  addServe,
  addWrap,
  addConnect,
  addProtect,
  addUpstreams,
  addRules,
  addCall,
  addDoctor,
  addBench,
  addCard,
  addKeys,
  addConsole,
  addPeople,
  addApprovals,
  addAudit,
  addTenants,
  addConfig,
  addCompletion,
]

/** The commands that clients start. Each is complete without the others, whose options take a while to declare. */
const startedByClients = new Map([
  ['serve', addServe],
  ['wrap', addWrap],
  ['connect', addConnect],
])

/** `name` is the command that runs, if it is known. */
export function createProgram(context: CommandContext, done: (exitCode: number) => void, name = ''): Command {
  const program = new Command('sluice')
    .description(description)
    .version(version)
    .showSuggestionAfterError()
    .showHelpAfterError('(run sluice --help for all commands)')
    .exitOverride()
    .configureOutput(outputOf(context.terminal))
    // Every command has options. With the word, descriptions would not have enough room to be wrapped at 80 columns.
    .configureHelp({ subcommandTerm: (command) => new Help().subcommandTerm(command).replace(' [options]', '') })
    .addHelpText(
      'after',
      `${examples('sluice start', 'sluice serve ./server.ts --watch', 'sluice call http://127.0.0.1:3000/routes/mcp')}

Exit codes: 0 success, 1 failure, 2 invalid command line or configuration,
3 problem found by doctor or audit, 130 stopped by Ctrl-C.`,
    )
  const builder = createBuilder(program, context, done)
  const only = startedByClients.get(name)
  for (const add of only ? [only] : commands) add(builder)
  return program
}

/** Runs the command and returns the exit code. Never throws. */
export async function run(argv: readonly string[], context: CommandContext): Promise<number> {
  let exitCode: number = exitCodes.ok
  try {
    const done = (code: number): void => {
      exitCode = code
    }
    await createProgram(context, done, argv[0]).parseAsync([...argv], { from: 'user' })
    return exitCode
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? exitCodes.ok : exitCodes.usage
    if (context.signal.aborted) return 130
    context.terminal.err(wrapText(context.terminal, await messageFor(thrown, context.env)))
    return thrown instanceof CommandError ? thrown.exitCode : exitCodes.failed
  }
}

/** Returns the message of an error, which the library writes for people. `SLUICE_DEBUG` adds the stack. */
async function messageFor(thrown: unknown, env: CommandContext['env']): Promise<string> {
  if (!(thrown instanceof Error)) return String(thrown)
  // Loaded on demand, because most commands end without an error.
  const { errorMessage, isStoreRefusal } = await import('./error-message.ts')
  const advice = isStoreRefusal(thrown) ? '. Check "store" in the configuration, or run: sluice doctor' : ''
  const message = errorMessage(thrown) + advice
  const cause = thrown instanceof CommandError ? thrown.cause : thrown
  const stack = env['SLUICE_DEBUG'] && cause instanceof Error ? cause.stack : undefined
  return stack === undefined ? message : `${message}\n\n${stack}`
}
