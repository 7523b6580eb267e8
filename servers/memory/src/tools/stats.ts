/** `get_stats`: how much is remembered, and how well searches perform. */

import type { Tool } from 'sluice'
import { tool } from 'sluice'
import * as z from 'zod'
import type { App } from '../app.ts'
import { workspaceFor } from '../app.ts'
import { inWorkspace } from '../inputs.ts'
import { answer } from './answer.ts'

const formatInteger = (value: number): string => value.toLocaleString('en-US')
const dateOf = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString()

export const statsTool = (app: App): Tool =>
  tool({
    name: 'get_stats',
    title: 'Memory statistics',
    description: 'Get statistics about the knowledge graph',
    input: z.strictObject({ workspace_id: inWorkspace }),
    annotations: { readOnlyHint: true, openWorldHint: false },
    async run({ workspace_id }, context) {
      const workspace = await workspaceFor(app, context, workspace_id)
      const [counts, graph] = await Promise.all([workspace.counts(), workspace.graphCounts()])
      const { memories, chunks, oldest, newest, embedded } = counts
      const sizeMb = (counts.fileBytes ?? counts.textBytes) / 1024 / 1024
      const average = memories === 0 ? 0 : chunks / memories
      const hitRate = app.embedder?.hitRate(workspace.tenant)
      const latency = app.recall.averageMs(workspace.tenant)
      return answer(
        [
          'Memory Statistics:',
          `Workspace: ${workspace.id}`,
          `Total Memories: ${formatInteger(memories)}`,
          `Total Chunks: ${formatInteger(chunks)}`,
          `Database Size: ${sizeMb.toFixed(2)} MB`,
          `Average Chunks per Memory: ${average.toFixed(1)}`,
          `Total Entities: ${formatInteger(graph.entities)}`,
          `Total Relationships: ${formatInteger(graph.relations)}`,
          ...(app.embedder ? [`Embedded Chunks: ${formatInteger(embedded)} (${app.embedder.model})`] : []),
          ...(hitRate === undefined ? [] : [`Cache Hit Rate: ${(hitRate * 100).toFixed(1)}%`]),
          ...(latency === undefined ? [] : [`Average Query Latency: ${latency.toFixed(1)} ms`]),
          ...(oldest === undefined ? [] : [`Oldest Memory: ${dateOf(oldest)}`]),
          ...(newest === undefined ? [] : [`Newest Memory: ${dateOf(newest)}`]),
        ],
        {
          workspace_id: workspace.id,
          total_memories: memories,
          total_chunks: chunks,
          database_size_mb: Math.round(sizeMb * 100) / 100,
          avg_chunks_per_memory: Math.round(average * 10) / 10,
          total_entities: graph.entities,
          total_relationships: graph.relations,
          ...(app.embedder && { embedded_chunks: embedded, embedding_model: app.embedder.model }),
          ...(hitRate !== undefined && { cache_hit_rate: Math.round(hitRate * 1000) / 1000 }),
          ...(latency !== undefined && { avg_query_latency_ms: Math.round(latency * 10) / 10 }),
          ...(oldest !== undefined && { oldest_memory_date: dateOf(oldest) }),
          ...(newest !== undefined && { newest_memory_date: dateOf(newest) }),
        },
      )
    },
  })
