/**
 * Writes log lines as JSON, to stderr or a file. Lines are buffered and written together, because a write per request
 * would cost more than the request.
 */

import type { Logger, LogLine } from '../../core/log.ts'
import { membersOf } from '../../core/log.ts'
import { addExitWork, removeExitWork } from './at-exit.ts'
import { createLogWriter, openLog, openStderr } from './log-writer.ts'

const flushAfterMs = 50
/**
 * Buffered characters above which lines are written at once. Not more, because every garbage collection copies them.
 */
const flushAt = 16 * 1024

/** A logger that buffers lines. `flush` writes them. */
export interface JsonLogger extends Logger {
  flush(): void
}

export interface JsonLoggerOptions {
  /** Also logs a line when a request arrives. Off by default, because it doubles the number of lines. */
  readonly debug?: boolean
}

/** Logs lines of JSON to stderr. */
export const stderrLogger = (options: JsonLoggerOptions = {}): JsonLogger => jsonLogger(openStderr(), options)

/** Logs lines of JSON to a file. To rotate it, copy and truncate it. */
export const fileLogger = (path: string, options: JsonLoggerOptions = {}): JsonLogger =>
  jsonLogger(openLog(path), options)

function jsonLogger(fd: number, { debug = false }: JsonLoggerOptions): JsonLogger {
  const writer = createLogWriter(fd)
  let waiting = ''
  let timer: NodeJS.Timeout | undefined
  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    removeExitWork(flush)
    const text = waiting
    waiting = ''
    if (text === '') writer.flush()
    else writer.write(text)
  }
  const put = (level: string, line: LogLine): void => append(Date.now(), `"level":"${level}"${membersOf(line)}`)
  const append = (time: number, members: string): void => {
    waiting += `{"time":${time},${members}}\n`
    if (waiting.length > flushAt) flush()
    else if (timer === undefined) {
      timer = setTimeout(flush, flushAfterMs).unref()
      addExitWork(flush)
    }
  }
  return {
    ...(debug && { debug: (line: LogLine) => put('debug', line) }),
    get lost() {
      return writer.lost
    },
    info: (line) => put('info', line),
    repeat(line) {
      const shared = `"level":"info"${membersOf(line)}`
      return (members, time) => append(time, shared + members)
    },
    warn: (line) => put('warn', line),
    error(line) {
      put('error', line)
      // At once, because a crash may follow an error.
      flush()
    },
    flush,
  }
}
