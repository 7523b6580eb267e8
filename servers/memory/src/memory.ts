/** A memory between the forms it has: as an agent gives it, as the archive keeps it, as an answer shows it. */

import { randomUUID } from 'node:crypto'
import type * as z from 'zod'
import type { Memory, NewMemory } from './archive.ts'
import { chunkInTurns } from './chunk.ts'
import { type metadata, toTime } from './inputs.ts'

export async function toNewMemory(
  text: string,
  given: z.infer<typeof metadata> | undefined,
  now: number,
  id: string = randomUUID(),
): Promise<NewMemory> {
  const { source, tags = [], timestamp, ...more } = given ?? {}
  return {
    id: id.toLowerCase(),
    text,
    source,
    tags: [...new Set(tags)],
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

/** The beginning of a text on one line, cut between characters. */
export function preview(text: string, most = 200): string {
  // Of a long text the beginning is enough, unless it begins with nothing but space.
  const line = text
    .trimStart()
    .slice(0, most * 20)
    .replace(/\s+/g, ' ')
    .trim()
  const signs = [...line.slice(0, most * 2 + 2)]
  return signs.length <= most ? line : `${signs.slice(0, most).join('')}...`
}
