/** Where log lines go: any logger with the usual methods takes them, `console` included. */

export interface Logger {
  /** Optional: a line when a request arrives. Leave it out, and nothing is built for it. */
  debug?(line: LogLine): void
  info(line: LogLine): void
  warn(line: LogLine): void
  error(line: LogLine): void
  /** Lines that could not be written so far, if it counts them. */
  readonly lost?: number
}

/** One flat object. Arguments and results are never in it. */
export interface LogLine {
  readonly event: string
  readonly [field: string]: string | number | boolean | undefined
}

export const silentLogger: Logger = { info() {}, warn() {}, error() {} }
