/**
 * Caches compiled Swank, so that only the first start is slow. Until one start has compiled all of it, each start
 * compiles in a separate folder. The first one to finish becomes the cache. So no image ever loads a file that another
 * is still writing.
 */

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

export interface CompileCache {
  readonly folder: string
  /** Called when the image runs: its compiled files are complete. */
  commit(): void
  /** Called when the image does not run. */
  discard(): void
}

export async function openCompileCache(
  folder: string,
  sbcl: string,
  loader: string,
  env: Record<string, string>,
): Promise<CompileCache> {
  // The key contains both versions: another SBCL cannot read the files, and another Swank is another program.
  const { stdout: version } = await promisify(execFile)(sbcl, ['--version'], { env })
  const { mtimeMs, size } = statSync(loader)
  const made = createHash('sha256').update(JSON.stringify([version, loader, mtimeMs, size]))
  const cached = join(folder, `swank-${made.digest('hex').slice(0, 16)}`)
  if (existsSync(cached)) return { folder: cached, commit() {}, discard() {} }
  const temporary = mkdtempSync(join(folder, 'compiling-'))
  const drop = (): void => rmSync(temporary, { recursive: true, force: true })
  return {
    folder: temporary,
    commit() {
      try {
        renameSync(temporary, cached)
      } catch {
        // Another process was faster.
        drop()
      }
    },
    discard: drop,
  }
}
