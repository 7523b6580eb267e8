/**
 * Calls `changed` soon after anything in a folder changes. System events are only a hint: they come twice, early, or on
 * some mounts never. A slow poll therefore runs beside them, and `changed` reads the folder itself.
 */

import { type FSWatcher, statSync, watch } from 'node:fs'
import type { Clock } from 'sluice'

/** Editors write a file in several steps; after this delay it is complete. */
const settleMs = 50
/** The poll interval, for file systems without events. */
const pollMs = 10_000

/** Runs one call at a time; `changed` must not reject. Returns a function that ends the watch. */
export function watchFolder(folder: string, clock: Clock, changed: () => Promise<void>): () => void {
  let watcher: FSWatcher | undefined
  let inode: number | undefined
  let cancelTimer = (): void => {}
  let busy = false
  let again = false
  let ended = false

  /**
   * Also watches anew after the folder was replaced by another of the same name, for which the system sends no event.
   */
  function arm(): void {
    const now = statSync(folder, { throwIfNoEntry: false })?.ino
    if (ended || (watcher && now === inode)) return
    disarm()
    inode = now
    try {
      watcher = watch(folder, { recursive: true, persistent: false }, () => wake(settleMs))
      watcher.on('error', disarm)
    } catch {
      // The file system has no events, or the folder does not exist now: polling continues.
    }
  }
  function disarm(): void {
    watcher?.close()
    watcher = undefined
  }
  function wake(ms: number): void {
    if (ended) return
    cancelTimer()
    if (busy) again = true
    else
      cancelTimer = clock.after(ms, () => {
        reload().catch(() => wake(pollMs))
      })
  }
  async function reload(): Promise<void> {
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
    cancelTimer()
    disarm()
  }
}
