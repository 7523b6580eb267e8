/** Where log lines go: any logger with the usual methods takes them, `console` included. */

export interface Logger {
  info(line: LogLine): void
  warn(line: LogLine): void
  error(line: LogLine): void
}

/** One flat object. Arguments and results are never in it. */
export interface LogLine {
  readonly event: string
  readonly [field: string]: string | number | boolean | undefined
}

export const silent: Logger = { info() {}, warn() {}, error() {} }
