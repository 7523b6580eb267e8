/**
 * Writes the lines of one turn of the event loop together, because a write per answer would cost more than the answer.
 */

import type { Writable } from 'node:stream'

export interface LineWriter {
  write(line: string): void
  /** Writes now instead of at the end of this turn. */
  flush(): void
}

/** Buffered characters above which lines are written before the turn ends. */
const flushAt = 64 * 1024

/** Creates a line writer. It calls `stalled` when the reader does not keep up, and `drained` when it has caught up. */
export function createLineWriter(
  output: Writable,
  write: (text: string) => boolean,
  { stalled, drained }: { stalled(): void; drained(): void },
): LineWriter {
  let waiting = ''
  let scheduled = false
  let isStalled = false

  function flush(): void {
    scheduled = false
    const text = waiting
    waiting = ''
    if (text === '' || output.destroyed || write(text) || isStalled) return
    isStalled = true
    output.once('drain', () => {
      isStalled = false
      drained()
    })
    stalled()
  }
  return {
    flush,
    write(line) {
      waiting += `${line}\n`
      if (waiting.length >= flushAt) flush()
      else if (!scheduled) {
        scheduled = true
        setImmediate(flush)
      }
    },
  }
}
