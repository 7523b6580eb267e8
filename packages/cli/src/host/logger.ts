/** The configured log: pino, to stderr or a file, never to stdout. */

import pino from 'pino'
import type { Logger } from 'sluice'
import type { Config } from '../config/schema.ts'

export function loggerOf({ log }: Config): Logger {
  const destination = pino.destination({ dest: log.file ?? 2, sync: log.file === undefined, mkdir: true })
  return pino({ level: log.level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination)
}
