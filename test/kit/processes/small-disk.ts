/** A disk of one megabyte, if this user may mount one, to test a full disk. */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Returns `undefined` if mounting is not allowed. Clean-up steps are added to `closing`; the last runs first. */
export function mountSmallDisk(closing: (() => unknown)[]): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-disk-'))
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  closing.push(() => execFileSync('umount', ['-l', folder]))
  return folder
}

export const enlargeDisk = (disk: string): void => {
  execFileSync('mount', ['-o', 'remount,size=8m', disk])
}
