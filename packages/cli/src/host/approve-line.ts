/**
 * The command line that approves a ticket of this process, complete enough to be pasted into any terminal of this
 * machine. It names the data folder and the configuration, because the terminal may be in another folder.
 */

import { realpathSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import type { Environment } from 'sluice/node'
import { commandLine, packagePath } from './own-command.ts'

export interface ApproveLineOptions {
  /** The data folder. */
  readonly folder: string
  /** The configuration file, if there is one. */
  readonly file?: string | undefined
  readonly env: Environment
}

/** Returns a function that makes the line for a ticket. */
export function approveLine({ folder, file, env }: ApproveLineOptions): (id: string) => string {
  const options = ['--data', resolve(folder), ...(file === undefined ? [] : ['--config', resolve(file)])]
  /** Searched with the first ticket, because most servers that a client starts have none. */
  let program: readonly string[] | undefined
  return (id) => {
    program ??= isOnPath(env) ? ['sluice'] : commandLine
    return [...program, 'approvals', 'approve', id, ...options].map(quoted).join(' ')
  }
}

/**
 * Whether `sluice` in a person's terminal is this program. Folders that npm adds to the path of programs it starts do not
 * count, because a terminal does not have them.
 */
function isOnPath(env: Environment): boolean {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((each) => each !== '' && !each.includes('node_modules'))
  return folders.some((each) => {
    try {
      return realpathSync(join(each, 'sluice')).startsWith(packagePath)
    } catch {
      return false
    }
  })
}

/** Quotes a word for a POSIX shell, or for the shells of Windows. */
function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  return process.platform === 'win32' ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`
}
