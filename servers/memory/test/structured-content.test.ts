/** The structured content of every tool says at least what its text says. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { missingFacts } from '../../../test/kit/clients/structured-facts.ts'
import { aFolder, openMemory } from './server.fixture.ts'

/** Words of the data below. A text that shows one must not be alone with it. */
const words = [
  'zebra',
  'quince',
  'Anna',
  'Siemens',
  'Munich',
  'works_at',
  'person',
  'garden',
  'greet',
  'python',
  'letters',
]

test('no tool says more in its text than in its structured content', async () => {
  const code = aFolder()
  mkdirSync(join(code, 'src'))
  writeFileSync(join(code, 'src/greet.py'), 'def greet():\n    return 4711\n')
  const memory = await openMemory({
    env: { SLUICE_MEMORY_CODE: code },
    approvals: { rules: [{ tool: '*', approval: 'never' }] },
  })
  const called = new Set<string>()
  const check = async (name: string, args: object = {}): Promise<void> => {
    called.add(name)
    const result = await memory.call(name, args)
    expect([name, result.isError, missingFacts(result, words)]).toEqual([name, false, []])
  }
  await check('add_memory', { text: 'The zebra 8121 likes quince.', metadata: { tags: ['letters'] } })
  const id = await memory.add('A second quince, in the garden.')
  await check('search_memory', { query: 'quince' })
  await check('search_memory', { query: 'nowhere', filters: { tags: ['x'] } })
  await check('list_memories', { limit: 1 })
  await check('get_stats')
  await check('create_workspace', { workspace_id: 'garden', name: 'The letters', description: 'Of Anna' })
  await check('list_workspaces')
  await check('search_memory', { query: 'elsewhere', workspace_id: 'garden' })
  await check('set_current_workspace', { workspace_id: 'garden' })
  await check('get_current_workspace')
  await check('set_current_workspace', { workspace_id: 'default' })
  await check('delete_workspace', { workspace_id: 'garden' })
  await check('delete_workspace', { workspace_id: 'garden', confirm: true })
  await check('add_relation', {
    from: 'Anna',
    relation: 'works_at',
    to: 'Siemens',
    from_type: 'person',
    confidence: 0.9,
  })
  await check('build_graph', { text: 'Siemens bought Munich 1999.' })
  await check('get_related', { entity_id: 'Anna' })
  await check('graph_status')
  await check('export_graph', { format: 'json' })
  await check('export_graph', { format: 'graphml' })
  await check('index_codebase', { repo_path: code })
  await check('prune_memory')
  await check('export_memories')
  await check('import_memories', { jsonl: '{"type":"memory","text":"garden"}\n{"type":"memory"}' })
  await check('delete_memory', { memory_id: id, confirm: true })
  await check('clear_all', { confirm_phrase: 'DELETE ALL MEMORIES' })
  const { tools } = await memory.client.request('tools/list')
  expect((tools as readonly { name: string }[]).map(({ name }) => name).filter((name) => !called.has(name))).toEqual([])
})
