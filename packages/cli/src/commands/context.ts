/** The context of every command. */

import type { Terminal } from '../output.ts'

export interface CommandContext {
  readonly terminal: Terminal
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Aborts on Ctrl-C and SIGTERM. Commands that wait then stop and clean up. */
  readonly signal: AbortSignal
}
