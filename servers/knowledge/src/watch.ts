/**
 * Calls `changed` soon after anything in a folder does. The system's events only wake: they come doubled, early, or on
 * some mounts not at all, so a slow look around goes on beside them, and whoever is woken reads the folder itself.
 */

import { type FSWatcher, statSync, watch } from 'node:fs'
import type { Clock } from 'sluice'

/** Editors write a file in several steps; a moment later it is whole. */
const settleMs = 50
/** How old news may get where the system tells nothing. */
const pollMs = 10_000

/** One call at a time; `changed` must not reject. Returns what ends it. */
export function watchFolder(folder: string, clock: Clock, changed: () => Promise<void>): () => void {
  let watcher: FSWatcher | undefined
  let inode: number | undefined
  let callOff = (): void => {}
  let busy = false
  let again = false
  let ended = false

  /** Also after the folder was replaced by another of its name, which the system does not tell. */
  function arm(): void {
    const now = statSync(folder, { throwIfNoEntry: false })?.ino
    if (ended || (watcher && now === inode)) return
    disarm()
    inode = now
    try {
      watcher = watch(folder, { recursive: true, persistent: false }, () => wake(settleMs))
      watcher.on('error', disarm)
    } catch {
      // No events here, or no folder just now: looking around has to do.
    }
  }
  function disarm(): void {
    watcher?.close()
    watcher = undefined
  }
  function wake(ms: number): void {
    if (ended) return
    callOff()
    if (busy) again = true
    else
      callOff = clock.after(ms, () => {
        look().catch(() => wake(pollMs))
      })
  }
  async function look(): Promise<void> {
    busy = true
    arm()
    try {
      await changed()
    } finally {
      busy = false
    }
    const soon = again
    again = false
    wake(soon ? settleMs : pollMs)
  }
  arm()
  wake(pollMs)
  return () => {
    ended = true
    callOff()
    disarm()
  }
}
