/** A logger that records its lines with their levels. */

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
