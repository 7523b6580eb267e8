/** A logger that keeps its lines, with the level each came at. */

import type { Logger, LogLine } from 'sluice'

interface RecordingLogger {
  readonly logger: Logger
  readonly lines: readonly (LogLine & { readonly level: string })[]
}

export function recordingLogger(): RecordingLogger {
  const lines: (LogLine & { readonly level: string })[] = []
  const at = (level: string) => (line: LogLine) => {
    lines.push({ ...line, level })
  }
  return { lines, logger: { info: at('info'), warn: at('warn'), error: at('error') } }
}
