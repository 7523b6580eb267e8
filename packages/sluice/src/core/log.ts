/** The interface for log lines. Any logger with the usual methods implements it, including `console`. */

export interface Logger {
  /** Optional. Receives a line when a request arrives. Without it, that line is not built. */
  debug?(line: LogLine): void
  info(line: LogLine): void
  warn(line: LogLine): void
  error(line: LogLine): void
  /** Number of lines that could not be written so far, if the logger counts them. */
  readonly lost?: number
}

/** One flat object. It never contains arguments or results. */
export interface LogLine {
  readonly event: string
  readonly [field: string]: string | number | boolean | undefined
}

export const silentLogger: Logger = { info() {}, warn() {}, error() {} }
