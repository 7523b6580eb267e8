/** What every command is given. */

import type { Terminal } from '../output.ts'

export interface CommandContext {
  readonly terminal: Terminal
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Ctrl-C and SIGTERM. Commands that wait stop when it aborts, and clean up. */
  readonly signal: AbortSignal
}
