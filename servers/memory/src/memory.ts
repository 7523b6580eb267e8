/** Converts a memory between its forms: as an agent sends it, as the archive stores it, as an answer shows it. */

import { randomUUID } from 'node:crypto'
import type * as z from 'zod'
import type { Memory, NewMemory } from './archive.ts'
import { chunkInTurns } from './chunk.ts'
import { type metadata, toTime } from './inputs.ts'

export async function toNewMemory(
  text: string,
  input: z.infer<typeof metadata> | undefined,
  now: number,
  id: string = randomUUID(),
): Promise<NewMemory> {
  const { source, tags = [], timestamp, ...more } = input ?? {}
  return {
    id: id.toLowerCase(),
    // Databases store UTF-8, which has no half of a character, and each replaces it in its own way.
    text: text.toWellFormed(),
    source: source?.toWellFormed(),
    tags: [...new Set(tags.map((tag) => tag.toWellFormed()))],
    metadata: JSON.stringify(more),
    at: timestamp === undefined ? now : toTime(timestamp),
    chunks: await chunkInTurns(text),
  }
}

export interface MemoryJson {
  readonly memory_id: string
  readonly text: string
  readonly source?: string
  readonly tags: readonly string[]
  readonly timestamp: string
  readonly metadata: Record<string, unknown>
}

export const toMemoryJson = ({ id, text, source, tags, at, metadata }: Memory): MemoryJson => ({
  memory_id: id,
  text,
  ...(source !== undefined && { source }),
  tags,
  timestamp: new Date(at).toISOString(),
  metadata: JSON.parse(metadata),
})

export const uriOf = (workspace: string, id: string): string => `memory://${workspace}/${id}`

/** Returns the beginning of a text on one line, cut between characters. */
export function preview(text: string, maxLength = 200): string {
  // The beginning of a long text is enough, except if it is white space only.
  const line = text
    .trimStart()
    .slice(0, maxLength * 20)
    .replace(/\s+/g, ' ')
    .trim()
  const signs = [...line.slice(0, maxLength * 2 + 2)]
  return signs.length <= maxLength ? line : `${signs.slice(0, maxLength).join('')}...`
}
