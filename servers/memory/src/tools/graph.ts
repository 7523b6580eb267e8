/** The graph of entities and relations that an agent states itself. */

import type { Tool } from 'sluice'
import { fail, tool } from 'sluice'
import * as z from 'zod'
import type { App } from '../app.ts'
import { workspaceFor } from '../app.ts'
import { related, toGraphML, wholeGraph } from '../graph.ts'
import { inWorkspace, shortText } from '../inputs.ts'
import { answer } from './answer.ts'

/** The limit for one answer; the command writes a file of any size. */
const maxBytes = 2 * 1024 * 1024

const entityName = shortText(200)
const entityType = shortText(60)

export const graphTools = (app: App): readonly Tool[] => [
  tool({
    name: 'add_relation',
    title: 'Add a relation',
    description: 'State that two entities are related: from, relation, to. Naming an entity creates it',
    input: z.strictObject({
      from: entityName.describe('Name of the first entity, such as Anna'),
      relation: shortText(60).describe('How it relates to the second, such as works_on'),
      to: entityName.describe('Name of the second entity'),
      from_type: entityType.optional().describe('What the first one is, such as person'),
      to_type: entityType.optional().describe('What the second one is, such as project'),
      confidence: z.number().min(0).max(1).default(1),
      workspace_id: inWorkspace,
    }),
    annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
    async run({ from, relation, to, from_type, to_type, confidence, workspace_id }, context) {
      const workspace = await workspaceFor(app, context, workspace_id)
      const isNew = await workspace.relate({
        from: { name: from, type: from_type },
        type: relation.trim(),
        to: { name: to, type: to_type },
        confidence,
      })
      const [source, target] = await Promise.all([workspace.entity(from), workspace.entity(to)])
      return answer(
        [
          isNew ? 'Relation stored successfully.' : 'Relation already existed; its confidence was updated.',
          `${source?.name} -[${relation.trim()}]-> ${target?.name} (Confidence: ${confidence.toFixed(2)})`,
          `Entity IDs: ${source?.id}, ${target?.id}`,
        ],
        {
          created: isNew,
          from_id: source?.id,
          from_name: source?.name,
          relation: relation.trim(),
          to_id: target?.id,
          to_name: target?.name,
          confidence,
          workspace_id: workspace.id,
        },
      )
    },
  }),
  tool({
    name: 'get_related',
    title: 'Related entities',
    description: 'Get the entities related to one, in up to five steps',
    input: z.strictObject({
      entity_id: entityName.describe('The ID of an entity, or its name'),
      depth: z.int().min(1).max(5).default(2),
      limit: z.int().min(1).max(50).default(20),
      relationship_types: z.array(shortText(60)).max(50).default([]).describe('Follow only these relations'),
      workspace_id: inWorkspace,
    }),
    annotations: { readOnlyHint: true, openWorldHint: false },
    async run({ entity_id, depth, limit, relationship_types, workspace_id }, context) {
      const workspace = await workspaceFor(app, context, workspace_id)
      const start = await workspace.entity(entity_id)
      if (!start) throw fail(`Entity not found: ${entity_id}. add_relation creates entities; graph_status counts them.`)
      const found = await related(workspace, start, {
        depth,
        limit,
        types: relationship_types.map((type) => type.trim()),
      })
      return answer(
        [
          found.length === 0
            ? `No entities related to ${start.name}.`
            : `Found ${found.length} ${found.length === 1 ? 'entity' : 'entities'} related to ${start.name}:`,
          ...found.map(
            ({ entity, confidence, relation, direction, from, depth }, at) =>
              `${at + 1}. [${entity.type.toUpperCase()}] ${entity.name} (Confidence: ${confidence.toFixed(2)}), ${
                direction === 'out'
                  ? `${from.name} -[${relation}]-> ${entity.name}`
                  : `${entity.name} -[${relation}]-> ${from.name}`
              }, depth ${depth}`,
          ),
        ],
        {
          entity: { id: start.id, name: start.name, type: start.type },
          count: found.length,
          related: found.map(({ entity, confidence, relation, direction, from, depth }) => ({
            id: entity.id,
            name: entity.name,
            type: entity.type,
            confidence: Math.round(confidence * 1000) / 1000,
            relation,
            direction,
            from_id: from.id,
            from_name: from.name,
            depth,
          })),
        },
      )
    },
  }),
  tool({
    name: 'graph_status',
    title: 'Graph status',
    description: 'Get the number of entities and relations, by type',
    input: z.strictObject({ workspace_id: inWorkspace }),
    annotations: { readOnlyHint: true, openWorldHint: false },
    async run({ workspace_id }, context) {
      const workspace = await workspaceFor(app, context, workspace_id)
      const { entities, relations, types } = await workspace.graphCounts()
      return answer(
        [
          'Knowledge Graph Status:',
          `Graph: ${workspace.id}`,
          `Nodes: ${entities.toLocaleString('en-US')}`,
          `Relationships: ${relations.toLocaleString('en-US')}`,
          ...Object.entries(types).map(([type, count]) => `  ${type}: ${count.toLocaleString('en-US')}`),
          'Health: Healthy',
        ],
        { graph_name: workspace.id, nodes: entities, relationships: relations, entity_types: types, health: 'healthy' },
      )
    },
  }),
  tool({
    name: 'export_graph',
    title: 'Export the graph',
    description: 'Export the entities and relations as JSON or GraphML',
    input: z.strictObject({ format: z.enum(['json', 'graphml']).default('json'), workspace_id: inWorkspace }),
    annotations: { readOnlyHint: true, openWorldHint: false },
    task: 'auto',
    async run({ format, workspace_id }, context) {
      const workspace = await workspaceFor(app, context, workspace_id)
      const graph = await wholeGraph(workspace, maxBytes)
      const text = graph === undefined ? '' : format === 'json' ? JSON.stringify(graph) : toGraphML(graph)
      const size = Buffer.byteLength(text)
      if (!graph || size > maxBytes)
        throw fail(
          `The graph takes more than ${maxBytes.toLocaleString('en-US')} bytes, which is too much for one answer. "sluice-memory graph --format ${format}" writes it to a file.`,
        )
      const mimeType = format === 'json' ? 'application/json' : 'application/graphml+xml'
      return {
        content: [
          {
            type: 'text',
            text: `Graph exported.\nFormat: ${format}\nNodes: ${graph.nodes.length}\nEdges: ${graph.edges.length}\nSize: ${size} bytes`,
          },
          { type: 'resource', resource: { uri: `memory://${workspace.id}/graph.${format}`, mimeType, text } },
        ],
        structuredContent: {
          format,
          nodes: graph.nodes.length,
          edges: graph.edges.length,
          size,
          ...(format === 'json' ? { graph } : { graphml: text }),
        },
      }
    },
  }),
]
