/** The last lines of a process's stderr, bounded: a process that writes without end must not fill the memory. */

const maxLines = 100
const maxLineLength = 500

/** Keeps the last lines of a text that arrives in pieces. */
export interface OutputRing {
  write(text: string): void
  line(text: string): void
  lines(): readonly string[]
}

/** `hide` removes secrets from a line before it is kept. */
export function createOutputRing(hide: (line: string) => string = (line) => line): OutputRing {
  let kept: string[] = []
  let rest = ''
  function line(text: string): void {
    kept.push(hide(text).slice(0, maxLineLength).trimEnd())
    // Cut rarely, because each cut copies the array.
    if (kept.length >= 2 * maxLines) kept = kept.slice(-maxLines)
  }
  return {
    line,
    write(text) {
      const parts = text.split('\n')
      const last = parts.pop() ?? ''
      if (parts.length === 0) {
        rest = (rest + last).slice(0, maxLineLength)
        return
      }
      parts[0] = rest + (parts[0] ?? '')
      for (const part of parts.slice(-maxLines)) line(part)
      rest = last.slice(0, maxLineLength)
    },
    lines: () => (rest === '' ? kept : [...kept, hide(rest)]).slice(-maxLines),
  }
}
