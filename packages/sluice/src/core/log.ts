/** The interface for log lines. Any logger with the usual methods implements it, including `console`. */

export interface Logger {
  /** Optional. Receives a line when a request arrives. Without it, that line is not built. */
  debug?(line: LogLine): void
  info(line: LogLine): void
  warn(line: LogLine): void
  error(line: LogLine): void
  /**
   * Optional. Returns a function that logs the same line again and again at the level `info`, with other fields at its
   * end. The text of the line is then made once.
   */
  repeat?(line: LogLine): (fields: LogFields) => void
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
