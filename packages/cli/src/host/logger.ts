/** The configured log: pino, to stderr or a file, never to stdout. */

import { openSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import pino from 'pino'
import type { Logger } from 'sluice'
import { makePrivateFolder } from 'sluice/node'
import type { Config } from '../config/schema.ts'
import { CommandError } from '../output.ts'

export function loggerOf({ log }: Config): Logger {
  const destination = pino.destination({ dest: log.file === undefined ? 2 : opened(log.file), sync: !log.file })
  return pino({ level: log.level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination)
}

/** Open before the first line: pino would open it later, and a command that fails at once would end with its stack. */
function opened(file: string): number {
  try {
    makePrivateFolder(dirname(resolve(file)))
    return openSync(file, 'a', 0o600)
  } catch (thrown) {
    const why = thrown instanceof Error && 'code' in thrown ? ` (${String(thrown.code)})` : ''
    throw new CommandError(`${file} cannot be written${why}. Choose another file with log.file.`)
  }
}
