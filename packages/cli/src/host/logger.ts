/** Creates the configured log: lines for people at a terminal, otherwise JSON lines to stderr or a file. Never stdout. */

import { dirname, resolve } from 'node:path'
import type { Logger } from 'sluice'
import { fileLogger, makePrivateFolder, stderrLogger } from 'sluice/node'
import type { Config } from '../config/schema.ts'
import { CommandError } from '../output.ts'
import { terminalLogger } from './terminal-log.ts'

const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const

/** Drops every line. */
export const silentLogger: Logger = { info() {}, warn() {}, error() {} }

export function loggerOf({ log }: Config): Logger {
  const all = log.file === undefined ? toStderr() : toFile(log.file)
  const isEnabled = (level: (typeof levels)[number]): boolean => levels.indexOf(level) >= levels.indexOf(log.level)
  const discard = (): void => {}
  return {
    ...(isEnabled('debug') && all.debug && { debug: all.debug }),
    get lost() {
      return all.lost ?? 0
    },
    info: isEnabled('info') ? all.info : discard,
    warn: isEnabled('warn') ? all.warn : discard,
    error: isEnabled('error') ? all.error : discard,
  }
}

const toStderr = (): Logger =>
  process.stderr.isTTY
    ? terminalLogger({
        isTty: !process.env['NO_COLOR'],
        write: (text) => process.stderr.write(text),
        now: () => new Date(),
      })
    : stderrLogger({ debug: true })

function toFile(file: string): Logger {
  try {
    makePrivateFolder(dirname(resolve(file)))
    return fileLogger(file, { debug: true })
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? ` (${String(thrown.code)})` : ''
    throw new CommandError(`${file} cannot be written${code}. Choose another file with "log.file".`)
  }
}
