/** Builds a result in both forms: the document's lines for people and models, and the same as data for programs. */

import type { ToolResult } from 'sluice'

export const answer = (lines: readonly string[], structuredContent: object): ToolResult => ({
  content: [{ type: 'text', text: lines.join('\n') }],
  structuredContent,
})

/** Returns `1 memory`, `2 memories`. */
export const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`
