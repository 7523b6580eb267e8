/** The output of the command: tables, colours on a terminal only, JSON, and the exit codes. */

import { relative } from 'node:path'

/** 141 means that the reader of a pipe closed it. The shell's code for Ctrl-C is 130. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, found: 3, pipeClosed: 141 } as const

/** An error that the person can fix. It is printed without a stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly exitCode: number
  constructor(message: string, exitCode: number = exitCodes.failed, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}

export interface Terminal {
  /** Whether the output has colours and is fitted to the width. */
  readonly isTty: boolean
  /** Whether a person reads the output, also without colours. Keys are printed only then. */
  readonly isInteractive?: boolean
  /** The same for the messages on stderr. */
  readonly isErrTerminal?: boolean
  readonly columns: number
  out(text: string): void
  err(text: string): void
  /** Resolves when all output is read. Otherwise a slow reader would fill the memory, or miss the end of the output. */
  drained(): Promise<void>
}

export function processTerminal(): Terminal {
  const { stdout, stderr } = process
  let isWatched = false
  /** Watches stdout from the first line on, because with `--stdio` it belongs to the transport. */
  function watch(): void {
    if (isWatched) return
    isWatched = true
    // A reader such as head closes the pipe when it has enough. The command then exits silently, as other programs do.
    stdout.on('error', (thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== 'EPIPE') stderr.write(`The output cannot be written: ${thrown.message}\n`)
      process.exit(thrown.code === 'EPIPE' ? exitCodes.pipeClosed : exitCodes.failed)
    })
  }
  stderr.on('error', () => {})
  return {
    isTty: stdout.isTTY === true && !process.env['NO_COLOR'],
    isInteractive: stdout.isTTY === true,
    isErrTerminal: stderr.isTTY === true,
    columns: stdout.columns ?? 100,
    out: (text) => {
      watch()
      stdout.write(`${text}\n`)
    },
    err: (text) => {
      stderr.write(`${text}\n`)
    },
    async drained() {
      await Promise.all([flushed(stdout), Promise.race([flushed(stderr), shortDelay()])])
    },
  }
}

/** Limits the wait for stderr, because it may never be read and the process must exit. */
const shortDelay = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1000).unref())

const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  stream.writableLength === 0 ? Promise.resolve() : new Promise((resolve) => stream.write('', () => resolve()))

const styles = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const
export type Style = keyof typeof styles

export const styled = ({ isTty }: Pick<Terminal, 'isTty'>, style: Style, text: string): string =>
  isTty ? `\u001b[${styles[style]}m${text}\u001b[0m` : text

/** A narrower column is not readable. */
const minColumnWidth = 10

/** Makes a table. On a terminal, columns that do not fit are left out, and the last one is cut. */
export function table(terminal: Terminal, head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)))
  const before = (at: number): number => widths.slice(0, at).reduce((sum, width) => sum + width + 2, 0)
  const fits = (at: number): boolean => before(at) + Math.min(widths[at] ?? 0, minColumnWidth) <= terminal.columns
  const shownColumns = head.filter((_, at) => at === 0 || !terminal.isTty || fits(at)).length
  const lineOf = (cells: readonly string[]): string => {
    const line = cells
      .slice(0, shownColumns)
      .map((cell, at) => (at === shownColumns - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd()
    return terminal.isTty && line.length > terminal.columns ? `${line.slice(0, terminal.columns - 1)}…` : line
  }
  return [styled(terminal, 'bold', lineOf(head)), ...rows.map(lineOf)].join('\n')
}

/** Wraps text between words on a terminal, and indents all lines but the first. A word longer than a line stays whole. */
export function wrapText(terminal: Terminal, text: string, indent = 0): string {
  if (!terminal.isTty) return text
  const width = Math.max(terminal.columns - indent, 20)
  const lines = text.split('\n').flatMap((line) => {
    // A line that begins with spaces keeps them, because it quotes a file.
    const [lead = ''] = /^ */.exec(line) ?? []
    const found: string[] = [lead]
    for (const word of line.slice(lead.length).split(' ')) {
      const last = found.at(-1) ?? ''
      if (last.trim() !== '' && last.length + 1 + word.length > width) found.push(word)
      else found[found.length - 1] = last.trim() === '' ? `${last}${word}` : `${last} ${word}`
    }
    return found
  })
  return lines.join(`\n${' '.repeat(indent)}`)
}

/** Escapes control characters, so that text from elsewhere cannot control the terminal. */
export const escapeControls = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}]/gu, (character) =>
    character === '\n' || character === '\t'
      ? character
      : `\\u${character.codePointAt(0)?.toString(16).padStart(4, '0')}`,
  )

/** Parses the number of a flag; `undefined` if the flag is absent. */
export function numberOf(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (text.trim() === '' || !Number.isInteger(value) || value < 0)
    throw new CommandError(`${flag} must be a number, not "${text}"`, exitCodes.usage)
  return value
}

/** Shortens a path to a relative one if it is below the working folder. */
export const shortPath = (cwd: string, path: string): string => {
  const near = relative(cwd, path)
  return near.length < path.length && near !== '' && !near.startsWith('..') ? near : path
}

/** Formats the output of `--json`. */
export const toJson = (value: unknown): string => JSON.stringify(value, undefined, 2)

/** Shortens the id of a ticket, because a complete one takes the place of other columns. Every command accepts it. */
export const shortId = (id: string): string => id.slice(0, 8)

/** Returns `1 record` or `2 records`. */
export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

export function ago(ms: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - ms) / 1000))
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3600) return `${Math.round(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.round(seconds / 3600)} h ago`
  return `${Math.round(seconds / 86_400)} d ago`
}
