/** A disk in a file, if this account may mount one. A copy of the file is what a power cut would leave. */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface RemovableDisk {
  /** Where the disk is mounted. */
  readonly folder: string
  /** Returns the disk as it is now, without what the operating system has not written to it yet. */
  copy(): RemovableDisk
  remove(): void
}

const megabytes = 64
/** The file system writes only what a program syncs, otherwise a copy would also have what was written by chance. */
const options = 'loop,commit=1000'

/** Returns `undefined` if mounting is not allowed. */
export function createDisk(): RemovableDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-disk-'))
  const image = join(folder, 'image')
  try {
    run('truncate', '-s', `${megabytes}M`, image)
    run('mkfs.ext4', '-q', image)
    return mounted(folder, image)
  } catch {
    rmSync(folder, { recursive: true })
    return undefined
  }
}

function mounted(folder: string, image: string): RemovableDisk {
  const mountPoint = mkdtempSync(join(folder, 'mount-'))
  run('mount', '-o', options, image, mountPoint)
  return {
    folder: mountPoint,
    copy() {
      const other = mkdtempSync(join(tmpdir(), 'sluice-disk-'))
      const copied = join(other, 'image')
      run('cp', '--sparse=always', image, copied)
      return mounted(other, copied)
    },
    remove() {
      run('umount', '-l', mountPoint)
      rmSync(folder, { recursive: true })
    },
  }
}

const run = (command: string, ...args: readonly string[]): void => {
  execFileSync(command, args, { stdio: 'ignore' })
}
