/** Export and import through the protocol, one page at a time; the command does the same with files of any size. */

import type { Tool } from 'sluice'
import { tool } from 'sluice'
import * as z from 'zod'
import type { App } from '../app.ts'
import { workspaceFor } from '../app.ts'
import { inWorkspace, longText } from '../inputs.ts'
import { cursorPattern, exportPage, importLines } from '../transfer.ts'
import { answer, counted } from './answer.ts'

const pageBytes = 512 * 1024

/** Yields lines one by one, because ten million line ends would otherwise make a list of ten million at once. */
function* linesOf(text: string): Generator<string> {
  for (let from = 0; from <= text.length; ) {
    const end = text.indexOf('\n', from)
    const until = end === -1 ? text.length : end
    yield text.slice(from, until)
    from = until + 1
  }
}

export const transferTools = (app: App): readonly Tool[] => [
  tool({
    name: 'export_memories',
    title: 'Export memories',
    description: 'Export memories and relations as JSON Lines, a page at a time',
    input: z.strictObject({
      cursor: z
        .string()
        .regex(cursorPattern, 'is not a next_cursor of an earlier page')
        .optional()
        .describe('next_cursor of the previous page'),
      workspace_id: inWorkspace,
    }),
    annotations: { readOnlyHint: true, openWorldHint: false },
    task: 'auto',
    async run({ cursor, workspace_id }, context) {
      const workspace = await workspaceFor(app, context, workspace_id)
      const { lines, next } = await exportPage(workspace, cursor, pageBytes)
      const jsonl = lines.map((line) => `${line}\n`).join('')
      const summary = `Exported ${lines.length} records of workspace ${workspace.id}.`
      return {
        content: [
          { type: 'text', text: next ? `${summary}\nMore with cursor ${next}` : summary },
          {
            type: 'resource',
            resource: {
              uri: `memory://${workspace.id}/export.jsonl`,
              mimeType: 'application/jsonl',
              text: jsonl,
            },
          },
        ],
        structuredContent: {
          ...{ records: lines.length, workspace_id: workspace.id, jsonl },
          ...(next && { next_cursor: next }),
        },
      }
    },
  }),
  tool({
    name: 'import_memories',
    title: 'Import memories',
    description: 'Import memories and relations from JSON Lines, as export_memories writes them',
    input: z.strictObject({
      jsonl: longText.describe(
        'One JSON object per line: {"type":"memory","text":"…"} or {"type":"relation","from":{"name":"…"},"relation":"…","to":{"name":"…"}}',
      ),
      workspace_id: inWorkspace,
    }),
    annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
    timeoutMs: 120_000,
    task: 'auto',
    async run({ jsonl, workspace_id }, context) {
      const workspace = await workspaceFor(app, context, workspace_id)
      const { memories, relations, duplicates, rejected } = await importLines(
        workspace,
        linesOf(jsonl),
        () => app.clock.now(),
        (lines) => context.progress(lines, undefined, `${lines} lines imported`),
      )
      const note = await app.catchUp?.waitFor(workspace)
      return answer(
        [
          `Imported ${counted(memories, 'memory', 'memories')} and ${counted(relations, 'relation', 'relations')} into workspace ${workspace.id}.`,
          ...(duplicates > 0 ? [`${duplicates} already existed.`] : []),
          ...(rejected.length > 0 ? [`${rejected.length} lines were left out:`, ...rejected.slice(0, 10)] : []),
          ...(note ? [`Note: ${note}`] : []),
        ],
        {
          workspace_id: workspace.id,
          memories,
          relations,
          known: duplicates,
          refused: rejected.length,
          errors: rejected.slice(0, 10),
          ...(note && { note }),
        },
      )
    },
  }),
]
