/** Questions about the processes of this machine. */

import { readdirSync, readFileSync } from 'node:fs'

/** Processes whose command line contains all texts. Dead ones that wait to be cleared away do not count. */
export const running = (...texts: readonly string[]): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const command = commandOf(pid)
      return texts.every((text) => command.includes(text))
    })

export const isAlive = (pid: number): boolean => commandOf(pid) !== ''

/** Whether a process group has members. */
export function hasGroup(group: number): boolean {
  try {
    process.kill(-group, 0)
    return true
  } catch {
    return false
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
