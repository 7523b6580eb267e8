/** Log lines as JSON, to stderr or a file. Lines are gathered and written together: a write per request would cost more than the request. */

import { openSync, writeSync } from 'node:fs'
import type { Logger, LogLine } from '../core/log.ts'
import { membersOf } from './flat-json.ts'

const flushAfterMs = 50
/** Not more: what waits is copied by every garbage collection. */
const flushAt = 16 * 1024

/** A logger that gathers lines; `flush` writes what waits. */
export interface JsonLogger extends Logger {
  flush(): void
}

/** Lines of JSON to stderr. */
export const stderrLogger = (): JsonLogger => jsonLogger(2)

/** Adds to the file. To have it rotated, let the rotator copy and truncate it. */
export const fileLogger = (path: string): JsonLogger => jsonLogger(openSync(path, 'a', 0o640))

function jsonLogger(fd: number): JsonLogger {
  let waiting = ''
  let timer: NodeJS.Timeout | undefined
  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    const text = waiting
    waiting = ''
    if (text !== '') writeAll(fd, Buffer.from(text))
  }
  const put = (level: string, line: LogLine): void => {
    waiting += `{"time":${Date.now()},"level":"${level}"${membersOf(line)}}\n`
    if (waiting.length > flushAt) flush()
    else timer ??= setTimeout(flush, flushAfterMs).unref()
  }
  process.on('exit', flush)
  return {
    info: (line) => put('info', line),
    warn: (line) => put('warn', line),
    error(line) {
      put('error', line)
      // A bug may be followed by a crash.
      flush()
    },
    flush,
  }
}

/** stderr may be a full pipe or gone, a disk full; a log that cannot be written must not end the server. */
function writeAll(fd: number, bytes: Buffer): void {
  try {
    for (let from = 0; from < bytes.length; ) from += writeSync(fd, bytes, from)
  } catch {
    // Nowhere to say so.
  }
}
