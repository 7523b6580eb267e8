/** Disks that are full or fail, if this account may mount one. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A disk of one megabyte. Returns `undefined` if mounting is not allowed. Clean-up steps are added to `closing`; the last
 * runs first.
 */
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

/** The same for a disk that promises more space than is behind it: writes succeed, and a later sync fails. */
export function mountFailingDisk(closing: (() => unknown)[]): string | undefined {
  const behind = mountSmallDisk(closing)
  if (!behind) return undefined
  enlargeDisk(behind)
  const [image, disk] = [join(behind, 'image'), join(behind, 'disk')]
  execFileSync('truncate', ['-s', '64M', image])
  execFileSync('mkfs.ext4', ['-q', image], { stdio: 'ignore' })
  mkdirSync(disk)
  // Without a journal, which would fail as well and make the disk read-only.
  execFileSync('tune2fs', ['-O', '^has_journal', image], { stdio: 'ignore' })
  execFileSync('mount', ['-o', 'loop', image, disk])
  closing.push(() => execFileSync('umount', ['-l', disk]))
  return disk
}
