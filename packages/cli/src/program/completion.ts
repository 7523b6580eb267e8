/** The options and examples of `sluice completion`. */

import { completion } from '../commands/completion.ts'
import type { ProgramBuilder } from './builder.ts'

export function addCompletion({ program, context, sub, runs }: ProgramBuilder): void {
  sub(
    program,
    'completion <shell>',
    'print the completion script for bash, zsh or fish',
    'source <(sluice completion bash)',
    'sluice completion fish > ~/.config/fish/completions/sluice.fish',
  ).action(runs((shell: string) => completion(context, program, shell)))
}
