/** `search_memory`: lines of text for the model, as document 000 has them, and structured results for programs. */

import type { Tool, ToolContext } from 'sluice'
import { tool } from 'sluice'
import * as z from 'zod'
import type { App } from '../app.ts'
import { tenantOf, workspaceFor } from '../app.ts'
import type { Workspace } from '../archive.ts'
import { filters, inWorkspace, shortText, toFilters } from '../inputs.ts'
import { preview, toMemoryJson, uriOf } from '../memory.ts'
import type { RecallResult } from '../recall.ts'
import { answer, counted } from './answer.ts'

export const searchTool = (app: App): Tool =>
  tool({
    name: 'search_memory',
    title: 'Search memories',
    description: 'Search the knowledge graph',
    input: z.strictObject({
      query: shortText(1000).describe('Words or a question, 1 to 1,000 characters'),
      limit: z.int().min(1).max(100).default(10),
      filters,
      workspace_id: inWorkspace,
    }),
    annotations: { readOnlyHint: true, openWorldHint: false },
    async run({ query, limit, filters, workspace_id }, context) {
      const workspace = await workspaceFor(app, context, workspace_id)
      const result = await app.recall.search(workspace, query, toFilters(filters), limit)
      const { found, mode, note } = result
      const hints = found.length > 0 ? [] : await hintsFor(app, context, workspace, result, filters !== undefined)
      const lines = found.flatMap(({ memory, foundBy }, at) => [
        `${at + 1}. [Found by: ${foundBy.join(' and ')}]${memory.tags.length > 0 ? ` [Tags: ${memory.tags.join(', ')}]` : ''}`,
        preview(memory.text),
        `ID: ${memory.id}`,
        '',
      ])
      return answer(
        [
          ...(found.length > 0
            ? [`Found ${found.length} ${found.length === 1 ? 'result' : 'results'}:`, '', ...lines.slice(0, -1)]
            : ['No results found matching your query.', ...hints]),
          ...(note ? ['', `Note: ${note}`] : []),
        ],
        {
          count: found.length,
          workspace_id: workspace.id,
          mode,
          ...(note && { note }),
          ...(hints.length > 0 && { hints }),
          results: found.map(({ memory, start, end, foundBy, similarity }) => ({
            ...toMemoryJson(memory),
            text: memory.text,
            found_by: foundBy,
            ...(similarity !== undefined && { similarity: Math.round(similarity * 1000) / 1000 }),
            start,
            end,
            uri: uriOf(workspace.id, memory.id),
          })),
        },
      )
    },
  })

/** How many other workspaces an empty answer names. */
const maxNamedWorkspaces = 5

/** Returns what to try after an empty answer, the most promising first. */
async function hintsFor(
  app: App,
  context: ToolContext,
  workspace: Workspace,
  { hasOnlyStopWords, mode }: RecallResult,
  hasFilters: boolean,
): Promise<readonly string[]> {
  const others = (await app.archive.listWorkspaces(tenantOf(context)))
    .filter(({ id, memories }) => id !== workspace.id && memories > 0)
    .slice(0, maxNamedWorkspaces)
    .map(({ id, memories }) => `${id} (${counted(memories, 'memory', 'memories')})`)
  const elsewhere = others.length > 0 ? [`Search another workspace with workspace_id: ${others.join(', ')}.`] : []
  if ((await workspace.counts()).memories === 0)
    return [`Workspace ${workspace.id} has no memories yet; add_memory stores one.`, ...elsewhere]
  if (hasOnlyStopWords) return ['Name what you are looking for: these words are in almost every text.']
  return [
    ...(hasFilters ? ['Search again without filters.'] : []),
    mode === 'hybrid'
      ? 'Search with other words, or browse with list_memories.'
      : 'This search compares words, not meanings: use words that the memory may contain, fewer of them, or browse with list_memories.',
    ...elsewhere,
  ]
}
