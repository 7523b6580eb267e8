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
    run('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder)
  } catch {
    return undefined
  }
  closing.push(() => run('umount', '-l', folder))
  return folder
}

export const enlargeDisk = (disk: string): void => {
  run('mount', '-o', 'remount,size=8m', disk)
}

/** The same for a disk that promises more space than is behind it: writes succeed, and a later sync fails. */
export function mountFailingDisk(closing: (() => unknown)[]): string | undefined {
  const behind = mountSmallDisk(closing)
  if (!behind) return undefined
  enlargeDisk(behind)
  const [image, disk] = [join(behind, 'image'), join(behind, 'disk')]
  mkdirSync(disk)
  try {
    run('truncate', '-s', '64M', image)
    run('mkfs.ext4', '-q', image)
    // Without a journal, which would fail as well and make the disk read-only.
    run('tune2fs', '-O', '^has_journal', image)
    run('mount', '-o', 'loop', image, disk)
  } catch {
    return undefined
  }
  closing.push(() => run('umount', '-l', disk))
  return disk
}

const run = (command: string, ...args: readonly string[]): void => {
  execFileSync(command, args, { stdio: 'ignore' })
}
