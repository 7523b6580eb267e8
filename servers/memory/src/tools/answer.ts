/** A result in both forms: the lines the document gives people and models, and the same for programs. */

import type { ToolResult } from 'sluice'

export const answer = (lines: readonly string[], structuredContent: object): ToolResult => ({
  content: [{ type: 'text', text: lines.join('\n') }],
  structuredContent,
})

/** `1 memory`, `2 memories`. */
export const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`
