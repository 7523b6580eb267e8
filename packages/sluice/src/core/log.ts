/** The interface for log lines. Any logger with the usual methods implements it, including `console`. */

export interface Logger {
  /** Optional. Receives a line when a request arrives. Without it, that line is not built. */
  debug?(line: LogLine): void
  info(line: LogLine): void
  warn(line: LogLine): void
  error(line: LogLine): void
  /**
   * Optional, for loggers that write JSON. Returns a function that logs the same line again and again at the level
   * `info`, with further members at its end as JSON text: `,"id":7`. The text of the line is then made once. `time` is
   * in milliseconds since the epoch.
   */
  repeat?(line: LogLine): (members: string, time: number) => void
  /** Number of lines that could not be written so far, if the logger counts them. */
  readonly lost?: number
}

/** One flat object. It never contains arguments or results. */
export interface LogLine extends LogFields {
  readonly event: string
}
export interface LogFields {
  readonly [field: string]: string | number | boolean | undefined
}

export const silentLogger: Logger = { info() {}, warn() {}, error() {} }

/** Returns the members as JSON text without the braces, with a comma before each. */
export function membersOf(fields: LogFields): string {
  const text = JSON.stringify(fields)
  return text === '{}' ? '' : `,${text.slice(1, -1)}`
}
