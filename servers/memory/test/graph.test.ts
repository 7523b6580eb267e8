/** Relations that an agent states, traversed and exported. */

import { XMLParser } from 'fast-xml-parser'
import { expect, test } from 'vitest'
import { openMemory, textOf } from './server.fixture.ts'

const family = [
  ['Anna', 'mother_of', 'Ben', 0.9],
  ['Ben', 'works_on', 'Sluice', 0.5],
  ['Sluice', 'written_in', 'TypeScript', 1],
  ['Carl', 'knows', 'Anna', 0.8],
  ['TypeScript', 'compiles_to', 'JavaScript', 1],
] as const

async function openFamily() {
  const memory = await openMemory()
  for (const [from, relation, to, confidence] of family)
    await memory.call('add_relation', { from, relation, to, confidence })
  const names = async (args: object): Promise<readonly string[]> =>
    (await memory.call('get_related', args)).structuredContent.related.map(({ name }: { name: string }) => name)
  return { ...memory, names }
}

test('related entities come nearest first, then by confidence, along relations in both directions', async () => {
  const { names, text } = await openFamily()
  expect(await names({ entity_id: 'Anna', depth: 1 })).toEqual(['Ben', 'Carl'])
  expect(await names({ entity_id: 'anna' })).toEqual(['Ben', 'Carl', 'Sluice'])
  expect(await names({ entity_id: 'Anna', depth: 5 })).toEqual(['Ben', 'Carl', 'Sluice', 'TypeScript', 'JavaScript'])
  expect(await names({ entity_id: 'Anna', depth: 5, limit: 2 })).toEqual(['Ben', 'Carl'])
  expect(await names({ entity_id: 'Anna', depth: 5, relationship_types: ['mother_of', 'works_on'] })).toEqual([
    'Ben',
    'Sluice',
  ])
  expect((await text('get_related', { entity_id: 'Anna' })).split('\n').slice(0, 3)).toEqual([
    'Found 3 entities related to Anna:',
    '1. [THING] Ben (Confidence: 0.90), Anna -[mother_of]-> Ben, depth 1',
    '2. [THING] Carl (Confidence: 0.80), Carl -[knows]-> Anna, depth 1',
  ])
})

test('two uncertain steps are less certain than one, and of two paths the better one counts', async () => {
  const { call } = await openFamily()
  await call('add_relation', { from: 'Anna', relation: 'likes', to: 'Ben', confidence: 1 })
  const { structuredContent } = await call('get_related', { entity_id: 'Anna' })
  expect(structuredContent.related).toContainEqual(
    expect.objectContaining({ name: 'Sluice', depth: 2, confidence: 0.5 }),
  )
  expect(structuredContent.related).toContainEqual(
    expect.objectContaining({ name: 'Ben', relation: 'likes', confidence: 1 }),
  )
})

test('an entity is found by its ID, and an unknown one is reported', async () => {
  const { call, names } = await openFamily()
  const { structuredContent } = await call('get_related', { entity_id: 'Anna' })
  expect(await names({ entity_id: structuredContent.entity.id, depth: 1 })).toEqual(['Ben', 'Carl'])
  expect(textOf(await call('get_related', { entity_id: 'Zoe' }))).toMatch(/^Entity not found: Zoe/)
})

test('a cycle ends, and an entity related to itself is not its own relation', async () => {
  const { call, names } = await openMemory().then(async (memory) => ({
    ...memory,
    names: async () =>
      (await memory.call('get_related', { entity_id: 'a', depth: 5 })).structuredContent.related.map(
        ({ name }: { name: string }) => name,
      ),
  }))
  for (const [from, to] of ['ab', 'bc', 'ca', 'aa'].map(([from, to]) => [from, to]))
    await call('add_relation', { from, relation: 'r', to })
  expect(await names()).toEqual(['b', 'c'])
})

test('the status counts entities by type', async () => {
  const { call, text } = await openFamily()
  await call('add_relation', { from: 'Anna', from_type: 'person', relation: 'lives_in', to: 'Delft', to_type: 'city' })
  expect(await text('graph_status')).toBe(
    'Knowledge Graph Status:\nGraph: default\nNodes: 7\nRelationships: 6\n  thing: 5\n  city: 1\n  person: 1\nHealth: Healthy',
  )
})

test('the graph is exported as JSON and as GraphML that a parser reads, whatever the names contain', async () => {
  const { call } = await openFamily()
  const strange = 'A & B <c> "d" \u0007 é 数'
  await call('add_relation', { from: strange, relation: 'r & s', to: 'Anna' })
  const json = await call('export_graph', {})
  const graph = JSON.parse(json.content[1]?.resource?.text ?? '')
  expect(json.structuredContent).toMatchObject({ format: 'json', nodes: 7, edges: 6, graph })
  const [{ id }] = graph.nodes.filter(({ name }: { name: string }) => name === 'Anna')
  expect(graph.edges).toContainEqual(expect.objectContaining({ to: id, type: 'r & s', confidence: 1 }))
  const xml = (await call('export_graph', { format: 'graphml' })).content[1]?.resource?.text ?? ''
  const parsed = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '' }).parse(xml)
  expect(parsed.graphml.graph.node).toHaveLength(7)
  expect(parsed.graphml.graph.edge).toHaveLength(6)
  expect(JSON.stringify(parsed)).toContain('A & B <c> \\"d\\" \ufffd é 数')
})
