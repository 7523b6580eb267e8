/** The tools that store, list and delete memories. */

import type { Tool } from 'sluice'
import { fail, tool } from 'sluice'
import * as z from 'zod'
import type { App } from '../app.ts'
import { contentsOf, workspaceFor } from '../app.ts'
import { clearPhrase, filters, inWorkspace, longText, memoryId, metadata, toFilters } from '../inputs.ts'
import { preview, toMemoryJson, toNewMemory, uriOf } from '../memory.ts'
import { answer, counted } from './answer.ts'

/** Long enough for ten million characters on a slow disk. */
const addTimeoutMs = 120_000

/** Deletions without an approval, per caller and workspace: ten at once, then one a minute. */
const deletionRate = { burst: 10, perSecond: 1 / 60 }

export const memoryTools = (app: App): readonly Tool[] => [
  tool({
    name: 'add_memory',
    title: 'Add a memory',
    description: 'Add a memory to the knowledge graph',
    input: z.strictObject({
      text: longText.describe(
        'What to remember, 1 to 10,000,000 characters. One fact or note per memory is found best.',
      ),
      metadata: metadata.optional().describe('source, tags, timestamp, language and anything else worth keeping'),
      workspace_id: inWorkspace,
    }),
    annotations: { destructiveHint: false, openWorldHint: false },
    timeoutMs: addTimeoutMs,
    task: 'auto',
    async run({ text, metadata, workspace_id }, context) {
      const workspace = await workspaceFor(app, context, workspace_id)
      const memory = await toNewMemory(text, metadata, app.clock.now())
      await workspace.add([memory])
      const note = await app.catchUp?.waitFor(workspace)
      return answer(
        [
          'Memory stored successfully.',
          `ID: ${memory.id}`,
          `Chunks created: ${memory.chunks.length}`,
          ...(note ? [`Note: ${note} Until then it is found by its words.`] : []),
        ],
        {
          memory_id: memory.id,
          chunks_created: memory.chunks.length,
          workspace_id: workspace.id,
          ...(note && { note }),
        },
      )
    },
  }),
  tool({
    name: 'list_memories',
    title: 'List memories',
    description: 'List memories, newest first, a page at a time',
    input: z.strictObject({
      limit: z.int().min(1).max(100).default(20),
      cursor: z
        .string()
        .regex(/^-?\d{1,16}\.\d{1,16}$/, 'is not a next_cursor of an earlier page')
        .optional()
        .describe('next_cursor of the previous page'),
      filters,
      workspace_id: inWorkspace,
    }),
    annotations: { readOnlyHint: true, openWorldHint: false },
    async run({ limit, cursor, filters, workspace_id }, context) {
      const workspace = await workspaceFor(app, context, workspace_id)
      const [at, key] = cursor?.split('.').map(Number) ?? []
      const after = at === undefined || key === undefined ? undefined : { at, key }
      const page = await workspace.list({ filters: toFilters(filters), limit: limit + 1, after })
      const memories = page.slice(0, limit)
      const last = page.length > limit ? memories.at(-1) : undefined
      const next = last && `${last.at}.${last.key}`
      return answer(
        [
          memories.length === 0 ? 'No memories.' : `${counted(memories.length, 'memory', 'memories')}:`,
          ...memories.map(
            ({ id, at, tags, text }) =>
              `- ${new Date(at).toISOString().slice(0, 10)} ${id}${tags.length > 0 ? ` [Tags: ${tags.join(', ')}]` : ''} ${preview(text, 100)}`,
          ),
          ...(next ? [`More with cursor ${next}`] : []),
        ],
        {
          count: memories.length,
          workspace_id: workspace.id,
          memories: memories.map((memory) => ({
            ...toMemoryJson(memory),
            text: preview(memory.text),
            uri: uriOf(workspace.id, memory.id),
          })),
          ...(next && { next_cursor: next }),
        },
      )
    },
  }),
  tool({
    name: 'delete_memory',
    title: 'Delete a memory',
    description: 'Delete one memory permanently. Many deletions in a short time need an approval by a person',
    input: z.strictObject({
      memory_id: memoryId,
      confirm: z.literal(true, 'must be true: a deleted memory cannot be restored'),
      workspace_id: inWorkspace,
    }),
    annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
    // Otherwise a loop over this tool would bypass the approval of `clear_all`.
    async approval({ memory_id, workspace_id }, call) {
      const workspace = await workspaceFor(app, { call }, workspace_id)
      if (!(await workspace.get(memory_id.toLowerCase()))) return false
      const key = ['memory', 'deletions', call.caller.subject, workspace.id]
      return (await call.tenant.store.take(key, deletionRate)) > 0
    },
    async effect({ memory_id, workspace_id }, context) {
      const workspace = await workspaceFor(app, context, workspace_id)
      const memory = await workspace.get(memory_id.toLowerCase())
      if (!memory) throw fail('Memory not found.')
      return { Workspace: workspace.id, Memory: preview(memory.text) }
    },
    async run({ memory_id, workspace_id }, context) {
      const workspace = await workspaceFor(app, context, workspace_id)
      const id = memory_id.toLowerCase()
      if (!(await workspace.delete(id))) throw fail('Memory not found.')
      context.resourceUpdated(uriOf(workspace.id, id))
      return answer(['Memory deleted successfully.', `ID: ${id}`], { deleted: true, memory_id: id })
    },
  }),
  tool({
    name: 'clear_all',
    title: 'Delete all memories of a workspace',
    description:
      'Delete all memories, entities and relations of the workspace. Needs the exact phrase and an approval by a person',
    input: z.strictObject({
      confirm_phrase: z
        .literal(clearPhrase, `must be exactly "${clearPhrase}": this deletes everything in the workspace`)
        .describe(`Exactly: ${clearPhrase}`),
      workspace_id: inWorkspace,
    }),
    annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
    approval: 'always',
    effect: async ({ workspace_id }, context) => contentsOf(await workspaceFor(app, context, workspace_id)),
    timeoutMs: addTimeoutMs,
    async run({ workspace_id }, context) {
      const workspace = await workspaceFor(app, context, workspace_id)
      const { memories, chunks } = await workspace.counts()
      await workspace.clear()
      return answer(
        [`All memories deleted from workspace ${workspace.id}.`, `Memories: ${memories}`, `Chunks: ${chunks}`],
        {
          workspace_id: workspace.id,
          memories,
          chunks,
        },
      )
    },
  }),
]
