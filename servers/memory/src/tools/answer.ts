/** A result in both forms: the lines the document gives people and models, and the same for programs. */

import type { ToolResult } from 'sluice'

export const answer = (lines: readonly string[], structuredContent: object): ToolResult => ({
  content: [{ type: 'text', text: lines.join('\n') }],
  structuredContent,
})
