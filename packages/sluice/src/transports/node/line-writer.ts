/** Lines out, gathered for one turn of the loop: a write per answer would cost more than the answer. */

import type { Writable } from 'node:stream'

export interface LineWriter {
  write(line: string): void
  /** Now instead of at the end of this turn. */
  flush(): void
}

/** Past this much it is written without waiting for the turn to end. */
const flushAt = 64 * 1024

/** `stalled` is called when the reader does not keep up, `drained` when it has caught up. */
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
