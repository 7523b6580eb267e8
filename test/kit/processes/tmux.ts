/**
 * A program in a real terminal: tmux runs it, types keys and reads the screen. Each terminal has a server that ends
 * with its test.
 */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { requireProgram } from './programs.ts'

export interface TmuxTerminal {
  /** Types keys by their names in tmux: `j`, `Enter`, `Escape`. */
  press(...keys: readonly string[]): void
  /** Types text as it is. */
  type(text: string): void
  screen(): string
  /** Waits until the screen satisfies the check, and returns it. */
  until(check: (screen: string) => boolean): Promise<string>
  resize(columns: number, rows: number): void
}

/** Starts the program at 80×24. When it has ended, the screen shows `ended` and its exit code. */
export function openTmux(command: readonly string[], cwd: string): TmuxTerminal {
  const tmux = requireProgram('tmux', 'tmux', '-V')
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tmux-'))
  const run = (...args: readonly string[]): string =>
    execFileSync(tmux, ['-u', '-S', join(folder, 'socket'), '-f', '/dev/null', ...args], { encoding: 'utf8', cwd })
  onTestFinished(() => {
    run('kill-server')
    rmSync(folder, { recursive: true, force: true })
  })
  const line = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  run('new-session', '-d', '-x', '80', '-y', '24', '-c', cwd, `${line}; echo "ended $?"; exec sleep 1000`)
  const screen = (): string => run('capture-pane', '-p')
  return {
    press: (...keys) => {
      run('send-keys', ...keys)
    },
    type: (text) => {
      run('send-keys', '-l', text)
    },
    screen,
    until: (check) =>
      vi.waitFor(
        () => {
          const now = screen()
          if (!check(now)) throw new Error(`The screen is not as expected:\n${now}`)
          return now
        },
        { timeout: 60_000, interval: 50 },
      ),
    resize: (columns, rows) => {
      run('resize-window', '-x', String(columns), '-y', String(rows))
    },
  }
}
