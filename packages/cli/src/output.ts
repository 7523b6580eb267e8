/** What a person or a program reads: tables, colours only on a terminal, JSON where asked for, and what each exit code means. */

/** 130 is the shell's own for Ctrl-C. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, found: 3 } as const

/** Told to the person as it is, without a stack: they can do something about it. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly exitCode: number
  constructor(message: string, exitCode: number = exitCodes.failed) {
    super(message)
    this.exitCode = exitCode
  }
}

export interface Terminal {
  readonly isTty: boolean
  readonly columns: number
  out(text: string): void
  err(text: string): void
}

export const processTerminal = (): Terminal => ({
  isTty: process.stdout.isTTY === true && !process.env['NO_COLOR'],
  columns: process.stdout.columns ?? 100,
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
})

const styles = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const
export type Style = keyof typeof styles

export const styled = ({ isTty }: Pick<Terminal, 'isTty'>, style: Style, text: string): string =>
  isTty ? `\u001b[${styles[style]}m${text}\u001b[0m` : text

/** Columns as wide as their widest cell; the last one is cut where the terminal ends. */
export function table(terminal: Terminal, head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)))
  const lineOf = (cells: readonly string[]): string => {
    const line = cells.map((cell, at) => (at === head.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join('  ')
    return terminal.isTty && line.length > terminal.columns ? `${line.slice(0, terminal.columns - 1)}…` : line
  }
  return [styled(terminal, 'bold', lineOf(head)), ...rows.map(lineOf)].join('\n')
}

/** What is in a text from elsewhere must not steer the terminal. */
export const shown = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}]/gu, (character) =>
    character === '\n' || character === '\t'
      ? character
      : `\\u${character.codePointAt(0)?.toString(16).padStart(4, '0')}`,
  )

/** One line for one thing: a listing with `--json` can be piped on. */
export const toJson = (value: unknown): string => JSON.stringify(value, undefined, 2)

export function ago(ms: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - ms) / 1000))
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3600) return `${Math.round(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.round(seconds / 3600)} h ago`
  return `${Math.round(seconds / 86_400)} d ago`
}
