/** `build_graph`: entities and relations from a text, found by word classes and without a language model. */

import type { Tool } from 'sluice'
import { tool } from 'sluice'
import * as z from 'zod'
import type { App } from '../app.ts'
import { workspaceFor } from '../app.ts'
import type { NewEntity, Workspace } from '../archive.ts'
import { extractInThread } from '../extraction/extract-in-thread.ts'
import type { NamedEntity } from '../extraction/sentence.ts'
import { inWorkspace, shortText } from '../inputs.ts'
import { answer, counted } from './answer.ts'

/** Long enough for 100,000 characters on a slow machine. */
const buildTimeoutMs = 120_000
/** Lines of the text; structured content has all entities and relations. */
const maxListed = 50

export const buildGraphTool = (app: App): Tool =>
  tool({
    name: 'build_graph',
    title: 'Build a graph from a text',
    description:
      'Find people, places, organizations and other names in an English text, and how they relate, and add them to the graph. Found by grammar, so check what matters; add_relation states a relation exactly',
    input: z.strictObject({
      text: shortText(100_000).describe('The text, 1 to 100,000 characters'),
      options: z
        .strictObject({
          extract_entities: z.boolean().default(true).describe('Also add names that have no relation'),
          build_relationships: z.boolean().default(true).describe('Add relations between the names'),
          confidence_threshold: z.number().min(0).max(1).default(0.7).describe('Leave out what is less certain'),
        })
        .prefault({}),
      workspace_id: inWorkspace,
    }),
    annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
    timeoutMs: buildTimeoutMs,
    async run({ text, options, workspace_id }, context) {
      const workspace = await workspaceFor(app, context, workspace_id)
      const begun = app.clock.now()
      const isCertain = ({ confidence }: { readonly confidence: number }): boolean =>
        confidence >= options.confidence_threshold
      const found = await extractInThread(text, context.signal)
      const relations = options.build_relationships ? found.relations.filter(isCertain) : []
      const related = new Set(relations.flatMap(({ from, to }) => [from, to]))
      const entities = found.entities.filter(
        (entity) => related.has(entity.name) || (options.extract_entities && isCertain(entity)),
      )
      const typed = new Map<string, NewEntity>()
      for (const entity of entities) typed.set(entity.name, await toNewEntity(workspace, entity))
      const stored = await workspace.addGraph({
        entities: [...typed.values()],
        relations: relations.map(({ from, type, to, confidence }) => ({
          ...{ from: typed.get(from) ?? { name: from }, type, to: typed.get(to) ?? { name: to }, confidence },
        })),
      })
      const all = [...entities, ...relations]
      const average = all.length === 0 ? 0 : all.reduce((sum, { confidence }) => sum + confidence, 0) / all.length
      const took = app.clock.now() - begun
      const lines = [
        ...entities.map(
          ({ name, type, confidence }) => `- [${type.toUpperCase()}] ${name} (Confidence: ${confidence.toFixed(2)})`,
        ),
        ...relations.map(
          ({ from, type, to, confidence }) => `- ${from} -[${type}]-> ${to} (Confidence: ${confidence.toFixed(2)})`,
        ),
      ]
      return answer(
        [
          all.length === 0 ? 'No names found in this text.' : 'Knowledge graph built successfully.',
          `Entities: ${entities.length} (${stored.entities} created, ${entities.length - stored.entities} merged)`,
          `Relationships: ${relations.length} (${stored.relations} created)`,
          `Average confidence: ${average.toFixed(2)}`,
          `Processing time: ${took} ms`,
          ...lines.slice(0, maxListed),
          ...(lines.length > maxListed ? [`and ${counted(lines.length - maxListed, 'more', 'more')}`] : []),
        ],
        {
          workspace_id: workspace.id,
          entities_count: entities.length,
          entities_created: stored.entities,
          entities_merged: entities.length - stored.entities,
          relationships_count: relations.length,
          relationships_created: stored.relations,
          confidence_avg: Math.round(average * 100) / 100,
          processing_time_ms: took,
          entities,
          relationships: relations,
        },
      )
    },
  })

/** A guessed type must not replace one that an agent stated. */
async function toNewEntity(workspace: Workspace, { name, type }: NamedEntity): Promise<NewEntity> {
  const known = await workspace.entity(name)
  return (known && known.type !== 'thing') || type === 'thing' ? { name } : { name, type }
}
