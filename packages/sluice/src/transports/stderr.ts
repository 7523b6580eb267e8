/** Log lines as JSON on stderr. Lines are gathered and written together: a write per request would cost more than the request. */

import { writeSync } from 'node:fs'
import type { Logger, LogLine } from '../core/log.ts'

const flushAfterMs = 50
/** Not more: what waits is copied by every garbage collection. */
const flushAt = 16 * 1024

export interface StderrLogger extends Logger {
  flush(): void
}

export function stderrLogger(): StderrLogger {
  let waiting = ''
  let timer: NodeJS.Timeout | undefined
  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    const text = waiting
    waiting = ''
    if (text !== '') writeAll(Buffer.from(text))
  }
  const put = (level: string, line: LogLine): void => {
    waiting += `{"time":${Date.now()},"level":"${level}",${JSON.stringify(line).slice(1)}\n`
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

/** stderr may be a full pipe or gone; a log that cannot be written must not end the server. */
function writeAll(bytes: Buffer): void {
  try {
    for (let from = 0; from < bytes.length; ) from += writeSync(2, bytes, from)
  } catch {
    // Nowhere to say so.
  }
}
