/**
 * Memories as JSON Lines: one record per line, so that a file of any size can be written, read, searched and repaired
 * with simple tools. Importing twice changes nothing: a memory is identified by its id, a relation by its content.
 */

import * as z from 'zod'
import type { NewMemory, NewRelation, Workspace } from './archive.ts'
import { longText, memoryId, metadata, shortText } from './inputs.ts'
import { toMemoryJson, toNewMemory } from './memory.ts'

export interface ExportPage {
  readonly lines: readonly string[]
  readonly next: string | undefined
}

/** Returns a page of lines: first memories, then relations. It exceeds the byte limit only if a single record does. */
export async function exportPage(
  workspace: Workspace,
  cursor: string | undefined,
  maxBytes: number,
): Promise<ExportPage> {
  const [kind = 'm', after = '0'] = cursor?.split('.') ?? []
  return (kind === 'm' ? exportMemories : exportRelations)(workspace, Number(after), maxBytes)
}

const pageRows = 200

/** Exports in insertion order, so that the newest stay the newest after an import. */
async function exportMemories(workspace: Workspace, after: number, maxBytes: number): Promise<ExportPage> {
  const page = await workspace.walk(after, pageRows, maxBytes)
  const lines: string[] = []
  let bytes = 0
  for (const memory of page) {
    const { memory_id: id, text, metadata, tags, source, timestamp } = toMemoryJson(memory)
    const line = JSON.stringify({
      type: 'memory',
      id,
      text,
      metadata: { ...metadata, ...(source !== undefined && { source }), ...(tags.length > 0 && { tags }), timestamp },
    })
    bytes += Buffer.byteLength(line)
    if (lines.length > 0 && bytes > maxBytes) break
    lines.push(line)
  }
  const last = page[lines.length - 1]
  const textBytes = page.reduce((sum, memory) => sum + Buffer.byteLength(memory.text), 0)
  const isLast = lines.length === page.length && page.length < pageRows && textBytes < maxBytes
  return { lines, next: isLast || !last ? 'r.0' : `m.${last.key}` }
}

async function exportRelations(workspace: Workspace, after: number, maxBytes: number): Promise<ExportPage> {
  const page = await workspace.relations(after, pageRows)
  const entities = await workspace.entitiesBy([...new Set(page.flatMap(({ from, to }) => [from, to]))])
  const named = new Map(entities.map((entity) => [entity.key, entity]))
  const lines: string[] = []
  let bytes = 0
  let last = after
  for (const { key, from, to, type, confidence } of page) {
    const ends = [named.get(from), named.get(to)].map((entity) => ({ name: entity?.name, type: entity?.type }))
    const line = JSON.stringify({ type: 'relation', from: ends[0], relation: type, to: ends[1], confidence })
    bytes += Buffer.byteLength(line)
    if (lines.length > 0 && bytes > maxBytes) break
    lines.push(line)
    last = key
  }
  return { lines, next: lines.length === page.length && page.length < pageRows ? undefined : `r.${last}` }
}

export const cursorPattern: RegExp = /^[mr]\.\d{1,16}$/

const entityEnd = z.object({ name: shortText(200), type: shortText(60).optional() })
const record = z.discriminatedUnion('type', [
  z.object({ type: z.literal('memory'), id: memoryId.optional(), text: longText, metadata: metadata.optional() }),
  z.object({
    type: z.literal('relation'),
    from: entityEnd,
    relation: shortText(60),
    to: entityEnd,
    confidence: z.number().min(0).max(1).default(1),
  }),
])

export interface ImportResult {
  memories: number
  relations: number
  /** Records that already existed. */
  duplicates: number
  /** Messages such as `line 7: text cannot be empty`; only those lines were left out. */
  readonly rejected: string[]
}

/** Imports lines as they arrive; a memory counts once it is on the disk. */
export async function importLines(
  workspace: Workspace,
  lines: AsyncIterable<string> | Iterable<string>,
  now: () => number,
  report: (lines: number) => void = () => {},
): Promise<ImportResult> {
  const imported: ImportResult = { memories: 0, relations: 0, duplicates: 0, rejected: [] }
  let waiting: NewMemory[] = []
  const store = async (): Promise<void> => {
    const batch = waiting
    waiting = []
    if (batch.length === 0) return
    for (const isNew of await workspace.add(batch)) isNew ? imported.memories++ : imported.duplicates++
  }
  let number = 0
  for await (const line of lines) {
    number++
    // Also pauses before the first line, because the turn that parsed the message was already long.
    if ((number - 1) % pageRows === 0) {
      report(number - 1)
      await new Promise((resolve) => setImmediate(resolve))
    }
    if (line.trim() === '') continue
    const parsed = await parseLine(line, now)
    if (typeof parsed === 'string') imported.rejected.push(`line ${number}: ${parsed}`)
    else if ('text' in parsed) waiting.push(parsed)
    else (await workspace.relate(parsed)) ? imported.relations++ : imported.duplicates++
    if (waiting.length >= pageRows) await store()
  }
  await store()
  return imported
}

async function parseLine(line: string, now: () => number): Promise<NewMemory | NewRelation | string> {
  let value: unknown
  try {
    value = JSON.parse(line.replace(/^\ufeff/, ''))
  } catch {
    return 'is not JSON'
  }
  const parsed = record.safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return `${issue?.path.join('.') ?? ''} ${issue?.message ?? 'is not a record'}`.trim()
  }
  if (parsed.data.type === 'memory') return toNewMemory(parsed.data.text, parsed.data.metadata, now(), parsed.data.id)
  const { from, relation, to, confidence } = parsed.data
  return { from, type: relation.trim(), to, confidence }
}
