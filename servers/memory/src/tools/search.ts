/** `search_memory`: the document's lines for the model, whole chunks for programs. */

import type { Tool } from 'sluice'
import { tool } from 'sluice'
import * as z from 'zod'
import type { App } from '../app.ts'
import { workspaceFor } from '../app.ts'
import { filters, inWorkspace, shortText, toFilters } from '../inputs.ts'
import { preview, toMemoryJson, uriOf } from '../memory.ts'
import { answer } from './answer.ts'

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
    async run({ query, limit, filters, workspace_id }, work) {
      const workspace = await workspaceFor(app, work, workspace_id)
      const { found, mode, note } = await app.recall.search(workspace, query, toFilters(filters), limit)
      const lines = found.flatMap(({ memory, score }, at) => [
        `${at + 1}. [Score: ${score.toFixed(2)}]${memory.tags.length > 0 ? ` [Tags: ${memory.tags.join(', ')}]` : ''}`,
        preview(memory.text),
        `ID: ${memory.id}`,
        '',
      ])
      return answer(
        [
          ...(found.length > 0
            ? [`Found ${found.length} results:`, '', ...lines.slice(0, -1)]
            : ['No results found matching your query.']),
          ...(note ? ['', `Note: ${note}`] : []),
        ],
        {
          count: found.length,
          workspace_id: workspace.id,
          mode,
          ...(note && { note }),
          results: found.map(({ memory, start, end, score }) => ({
            ...toMemoryJson(memory),
            text: memory.text,
            score: Math.round(score * 1000) / 1000,
            start,
            end,
            uri: uriOf(workspace.id, memory.id),
          })),
        },
      )
    },
  })
