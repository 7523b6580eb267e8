/**
 * Takes over the terminal: raw keys, the alternate screen, and its state before on every way out. Written by hand, because
 * a list and a text need none of what a library for terminals brings.
 */

import { emitKeypressEvents } from 'node:readline'
import type { ScreenSize } from './screen.ts'
import type { WatchKey } from './state.ts'

export interface TerminalSession {
  size(): ScreenSize
  draw(lines: readonly string[]): void
  /** Gives the terminal back. */
  close(): void
}

export interface TerminalListeners {
  /** `isPasted`: it is part of a pasted text, which must decide nothing. */
  key(key: WatchKey, isPasted: boolean): void
  resized(): void
}

/** The alternate screen, no cursor, no automatic wrap, and marks around pasted text. */
const enter = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[?2004h'
const leave = '\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?1049l'

interface Keypress {
  readonly name?: string
  readonly ctrl?: boolean
  readonly sequence?: string
}

export function openTerminalSession(listeners: TerminalListeners): TerminalSession {
  const { stdin, stdout } = process
  let isPasting = false
  let isOpen = true
  const onKey = (text: string | undefined, { name, ctrl = false, sequence = '' }: Keypress): void => {
    if (name === 'paste-start') isPasting = true
    else if (name === 'paste-end') isPasting = false
    else listeners.key({ name: name ?? sequence, ctrl, text: text ?? '' }, isPasting)
  }
  const close = (): void => {
    if (!isOpen) return
    isOpen = false
    stdin.off('keypress', onKey)
    stdout.off('resize', listeners.resized)
    process.off('exit', close)
    stdin.setRawMode(false)
    stdin.pause()
    stdout.write(leave)
  }
  emitKeypressEvents(stdin)
  stdin.setRawMode(true)
  stdin.resume()
  stdin.on('keypress', onKey)
  stdout.on('resize', listeners.resized)
  // A bug must not leave a terminal that shows no input.
  process.on('exit', close)
  stdout.write(enter)
  return {
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    draw(lines) {
      // Each line is cleared first. After a full line, clearing would erase its last character.
      stdout.write(`\u001b[H${lines.map((line) => `\u001b[2K${line}`).join('\r\n')}`)
    },
    close,
  }
}
