/** A disk of a megabyte, where this user may make one: what a full disk looks like without filling one. */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** `undefined` where mounting is not allowed. What has to be undone is added to `closing`; the last comes first. */
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
