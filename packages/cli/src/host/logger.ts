/** The configured log: JSON lines, to stderr or a file, never to stdout. */

import { dirname, resolve } from 'node:path'
import type { Logger } from 'sluice'
import { fileLogger, makePrivateFolder, stderrLogger } from 'sluice/node'
import type { Config } from '../config/schema.ts'
import { CommandError } from '../output.ts'

const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const

export function loggerOf({ log }: Config): Logger {
  const all = log.file === undefined ? stderrLogger({ debug: true }) : toFile(log.file)
  const isWanted = (level: (typeof levels)[number]): boolean => levels.indexOf(level) >= levels.indexOf(log.level)
  const nothing = (): void => {}
  return {
    ...(isWanted('debug') && all.debug && { debug: all.debug }),
    get lost() {
      return all.lost ?? 0
    },
    info: isWanted('info') ? all.info : nothing,
    warn: isWanted('warn') ? all.warn : nothing,
    error: isWanted('error') ? all.error : nothing,
  }
}

function toFile(file: string): Logger {
  try {
    makePrivateFolder(dirname(resolve(file)))
    return fileLogger(file, { debug: true })
  } catch (thrown) {
    const why = thrown instanceof Error && 'code' in thrown ? ` (${String(thrown.code)})` : ''
    throw new CommandError(`${file} cannot be written${why}. Choose another file with log.file.`)
  }
}
