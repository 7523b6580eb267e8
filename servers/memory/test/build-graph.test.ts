/** `build_graph` on texts as people write them. */

import { expect, test } from 'vitest'
import { extract } from '../src/extraction/extract.ts'
import { openMemory } from './server.fixture.ts'

const text = `Anna Schmidt works at Siemens in Munich. She manages the Falcon project with Ben Okafor. Falcon uses PostgreSQL
and Redis. The release is on Friday, 3 May 2026. Anna does not like Redis. Dr. Maria Lopez moved from Hanoi to San
Francisco. Carla, who lives in Porto, founded Acme Corp. YouTube was acquired by Google. Alan Turing was born in London
and studied at the University of Cambridge.`

const relationsIn = (text: string, atLeast = 0.7): readonly string[] =>
  extract(text)
    .relations.filter(({ confidence }) => confidence >= atLeast)
    .map(({ from, type, to }) => `${from} ${type} ${to}`)

test('people, places, organizations and other names are found with their type', () => {
  const types = Object.fromEntries(extract(text).entities.map(({ name, type }) => [name, type]))
  expect(types).toEqual({
    ...{ 'Anna Schmidt': 'person', 'Ben Okafor': 'person', 'Maria Lopez': 'person', Carla: 'person' },
    ...{ 'Alan Turing': 'person', Munich: 'place', Hanoi: 'place', 'San Francisco': 'place', Porto: 'place' },
    ...{ London: 'place', Siemens: 'organization', Google: 'organization', 'Acme Corp': 'organization' },
    ...{ YouTube: 'organization', 'University of Cambridge': 'organization' },
    ...{ Falcon: 'thing', PostgreSQL: 'thing', Redis: 'thing' },
  })
})

test('verbs with their prepositions relate them; a denied relation is not one', () => {
  expect(relationsIn(text)).toEqual([
    'Anna Schmidt works_at Siemens',
    'Anna Schmidt works_in Munich',
    'Falcon uses PostgreSQL',
    'Falcon uses Redis',
    'Maria Lopez moved_from Hanoi',
    'Maria Lopez moved_to San Francisco',
    'Carla lives_in Porto',
    'Carla founded Acme Corp',
    'YouTube acquired_by Google',
    'Alan Turing born_in London',
    'Alan Turing studied_at University of Cambridge',
  ])
  expect(relationsIn(text, 0.5)).toContain('Anna Schmidt manages Falcon')
})

test('the graph is stored, and the same text again changes nothing', async () => {
  const { call, text: ask } = await openMemory()
  const first = await call('build_graph', { text })
  expect(first.structuredContent).toMatchObject({
    ...{ entities_count: 18, entities_created: 18, entities_merged: 0, relationships_created: 11 },
  })
  expect((await call('build_graph', { text })).structuredContent).toMatchObject({
    ...{ entities_count: 18, entities_created: 0, entities_merged: 18, relationships_created: 0 },
  })
  expect(await ask('get_related', { entity_id: 'anna schmidt' })).toContain('[ORGANIZATION] Siemens')
})

test('a type that an agent stated is kept, and the options limit what is stored', async () => {
  const { call } = await openMemory()
  await call('add_relation', { from: 'Siemens', relation: 'makes', to: 'trains', from_type: 'customer' })
  const { structuredContent } = await call('build_graph', {
    text: 'Anna Schmidt works at Siemens. Porto is nice.',
    options: { extract_entities: false },
  })
  expect(structuredContent.entities.map(({ name }: { name: string }) => name)).toEqual(['Anna Schmidt', 'Siemens'])
  const related = await call('get_related', { entity_id: 'Anna Schmidt', depth: 1 })
  expect(related.structuredContent.related).toMatchObject([{ name: 'Siemens', type: 'customer', relation: 'works_at' }])
})

test('a text without names is not an error', async () => {
  const { text: ask } = await openMemory()
  expect(await ask('build_graph', { text: 'it rained all day' })).toMatch(
    /^No names found in this text\.\nEntities: 0 /,
  )
})
