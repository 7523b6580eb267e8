/** The options and examples of `sluice console`. */

import { type ProgramBuilder, withStoreOptions } from './builder.ts'

export function addConsole({ program, context, sub, runs }: ProgramBuilder): void {
  const consoleCommand = sub(program, 'console', 'sign in to the web console', 'sluice console link')
  withStoreOptions(
    sub(consoleCommand, 'link', 'print a new sign-in link; it works once, within 15 minutes', 'sluice console link'),
  ).action(runs(async (options) => (await import('../commands/console.ts')).consoleLink(context, options)))
}
