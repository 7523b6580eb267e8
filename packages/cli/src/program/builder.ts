/** The pieces that all commands are declared with: options they share, examples in the help, exit codes. */

import type { OutputConfiguration } from 'commander'
import { Command, Option } from 'commander'
import type { CommandContext } from '../commands/context.ts'
import type { Terminal } from '../output.ts'

export interface ProgramBuilder {
  readonly program: Command
  readonly context: CommandContext
  /** Adds a command below `parent`. The help ends with the examples. */
  sub(parent: Command, usage: string, about: string, ...examples: readonly string[]): Command
  /** Runs a command. It ends soon after Ctrl-C, even if the work still waits. */
  runs<A extends unknown[]>(work: (...args: A) => number | Promise<number>): (...args: A) => Promise<void>
  /** Runs a server. It ends by itself after Ctrl-C, when the calls in flight are done. */
  serves<A extends unknown[]>(work: (...args: A) => Promise<number>): (...args: A) => Promise<void>
}

export const jsonOption = new Option('--json', 'print JSON, for programs')
export const configOption = new Option(
  '-c, --config <file>',
  'the configuration file (default: sluice.config.ts, .json or .yaml in this folder)',
)
export const dataOption = new Option('--data <folder>', 'the data folder')
export const portOption = new Option('-p, --port <port>', 'the port to listen on')

/** Adds the options of every command that opens the store. */
export const withStoreOptions = (command: Command): Command =>
  command.addOption(dataOption).addOption(configOption).addOption(jsonOption)

/** Collects the values of an option that may be repeated. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`

export function createBuilder(
  program: Command,
  context: CommandContext,
  done: (exitCode: number) => void,
): ProgramBuilder {
  const serves: ProgramBuilder['serves'] =
    (work) =>
    async (...args) =>
      done(await work(...args))
  return {
    program,
    context,
    serves,
    runs: (work) => serves((...args) => Promise.race([work(...args), exitAfterSignal(context.signal)])),
    sub(parent, usage, about, ...shown) {
      const command = parent
        .command(usage)
        .description(about)
        .exitOverride()
        .configureOutput(outputOf(context.terminal))
      const path = [...(parent === program ? [] : [parent.name()]), command.name()].join(' ')
      return command
        .showHelpAfterError(`(run sluice ${path} --help for its options)`)
        .addHelpText('after', examples(...shown))
    },
  }
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

export const outputOf = (terminal: Terminal): OutputConfiguration => ({
  writeOut: (text) => terminal.out(text.replace(/\n$/, '')),
  writeErr: (text) => terminal.err(text.replace(/\n$/, '')),
})
