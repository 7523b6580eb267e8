/**
 * Where compiled Swank is kept, so that only the first start takes its time. Until one start has compiled all of it, each
 * compiles in a folder of its own, and the first that is done leaves it to the later ones: no image ever loads a file that
 * another is still writing.
 */

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

export interface CompileCache {
  readonly folder: string
  /** The image runs: what it compiled is whole. */
  commit(): void
  /** It does not. */
  discard(): void
}

export async function openCompileCache(
  folder: string,
  sbcl: string,
  loader: string,
  env: Record<string, string>,
): Promise<CompileCache> {
  // Another SBCL cannot read it, and another Swank is another program.
  const { stdout: version } = await promisify(execFile)(sbcl, ['--version'], { env })
  const { mtimeMs, size } = statSync(loader)
  const made = createHash('sha256').update(JSON.stringify([version, loader, mtimeMs, size]))
  const kept = join(folder, `swank-${made.digest('hex').slice(0, 16)}`)
  if (existsSync(kept)) return { folder: kept, commit() {}, discard() {} }
  const own = mkdtempSync(join(folder, 'compiling-'))
  const drop = (): void => rmSync(own, { recursive: true, force: true })
  return {
    folder: own,
    commit() {
      try {
        renameSync(own, kept)
      } catch {
        // Somebody else was quicker.
        drop()
      }
    },
    discard: drop,
  }
}
